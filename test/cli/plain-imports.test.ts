import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const HOOK = new URL('../../cli/bin/plain-imports.js', import.meta.url).href;
/** With packages of both formats, and of our own. */
const MAINS = ['../../cli/src/run-cli.ts', '../../engine/src/db/index.ts'].map(
  (file) => new URL(file, import.meta.url).href,
);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'headwater-imports-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every file that is loaded, with its format. */
async function loaded(flags: readonly string[]): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load(url, context, next) {
      const result = next(url, context);
      files.push(\`\${result.format} \${url}\`);
      return result;
    } });
    for (const main of ${JSON.stringify(MAINS)}) await import(main);
    process.stdout.write(JSON.stringify(files.toSorted()), () => process.exit());`;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', script]);
  return JSON.parse(stdout) as string[];
}

test('imports lead to the files that Node finds by itself, in their formats', async () => {
  const [plain, usual] = await Promise.all([loaded([`--import=${HOOK}`]), loaded([])]);
  expect(plain.length).toBeGreaterThan(100);
  expect(plain).toEqual(usual);
});

test('an import that leads nowhere says which file is missing', async () => {
  const main = path.join(folder, 'main.mjs');
  await writeFile(main, "import './missing.js';");
  const started = promisify(execFile)(process.execPath, [`--import=${HOOK}`, main]);
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(path.join(folder, 'missing.js')),
  });
});
