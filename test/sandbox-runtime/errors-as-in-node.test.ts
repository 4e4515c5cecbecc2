import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { SNIPPETS } from '../support/error-snippets.ts';
import { errorsOf } from '../support/errors-of.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

async function inNode(code: string): Promise<Record<string, string>> {
  const script = `(async () => { process.stdout.write(JSON.stringify(await (${code}))) })()`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', script], {
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as Record<string, string>;
}

async function inGuest(code: string): Promise<Record<string, string>> {
  const { outcome, host } = await sandbox.run(withRun(`this.$emit(await (${code}))`));
  if (!outcome.ok) throw new Error(`${outcome.fault.message}\n${outcome.fault.stack}`);
  return host.data()[0] as Record<string, string>;
}

/** Removes the reason that the sandbox adds to Node's message for an unsupported call. */
function withoutReasons(told: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(told).map(([snippet, text]) => [
      snippet,
      text.replace(/: components reach other hosts by [^|]*(?= \|)/, ''),
    ]),
  );
}

for (const [name, snippets] of Object.entries(SNIPPETS)) {
  test(`${name}: errors are those of Node`, async () => {
    const code = `(${errorsOf.toString()})(${JSON.stringify(snippets)})`;
    const [guest, node] = await Promise.all([inGuest(code), inNode(code)]);
    expect(withoutReasons(guest)).toEqual(node);
  });
}
