import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const projects: string[] = [];

afterAll(() => {
  for (const project of projects) rmSync(project, { recursive: true, force: true });
});

describe('the last line of a test run', () => {
  it('counts passed, failed and skipped tests', () => {
    const { lastLine, status } = runVitest({
      'a.test.js':
        "it('a', () => {}); it('b', () => {}); it('c', () => { throw new Error('no'); }); it.skip('d', () => {});",
    });
    expect(lastLine).toBe('2 passed, 1 failed, 1 skipped');
    expect(status).toBe(1);
  });

  it('says 0 failed of a green run only', () => {
    const { lastLine, status } = runVitest({ 'a.test.js': "it('a', () => {});" });
    expect(lastLine).toBe('1 passed, 0 failed, 0 skipped');
    expect(status).toBe(0);
  });

  it.each([
    ['a file that does not load', "throw new Error('no');"],
    [
      "a suite's hook that throws",
      "describe('s', () => { afterAll(() => { throw new Error('no'); }); it('a', () => {}); });",
    ],
    [
      'an error that nobody awaited',
      "it('a', async () => { void Promise.reject(new Error('no')); await new Promise(setImmediate); });",
    ],
  ])('counts %s as a failure', (_what, code) => {
    const { lastLine, status } = runVitest({ 'a.test.js': "it('good', () => {});", 'b.test.js': code });
    expect(lastLine).toMatch(/^[12] passed, 1 failed, 0 skipped$/);
    expect(status).toBe(1);
  });

  it('counts a file as it ended when it ran again, and names its first failures', () => {
    const code = `import { existsSync, writeFileSync } from 'node:fs';
      const isFirst = !existsSync('ran');
      writeFileSync('ran', '');
      it('late', () => { if (isFirst) throw new Error('too late'); });`;
    const { stdout, lastLine, status } = runVitest({ 'a.test.js': "it('a', () => {});", 'b.test.js': code });
    expect(stdout).toContain('passed at the second try: b.test.js > late: too late\n');
    expect(lastLine).toBe('2 passed, 0 failed, 0 skipped');
    expect(status).toBe(0);
  });
});

function runVitest(files: Record<string, string>): {
  stdout: string;
  lastLine: string | undefined;
  status: number | null;
} {
  const project = mkdtempSync(join(tmpdir(), 'headwater-closing-line-'));
  projects.push(project);
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  const reporter = JSON.stringify(join(ROOT, 'test/support/plain-reporter.ts'));
  const config = `import { plainReporter } from ${reporter};
export default { test: { globals: true, pool: 'forks', maxWorkers: 1, reporters: ['default', plainReporter()] } };`;
  for (const [name, text] of Object.entries({ 'vitest.config.mjs': config, ...files })) {
    writeFileSync(join(project, name), text);
  }
  const main = join(ROOT, 'test/support/run-tests.ts');
  const { stdout, status } = spawnSync(process.execPath, [main], {
    cwd: project,
    encoding: 'utf8',
    // The run around this one must not be taken for this one's own.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
  });
  return { stdout, lastLine: stdout.trimEnd().split('\n').at(-1), status };
}
