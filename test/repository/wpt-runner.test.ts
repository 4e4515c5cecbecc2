import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Functions of the checkout's harness that the runner uses. */
const HARNESS = `
  const results = []; let completed;
  function add_completion_callback(callback) { completed = callback }
  function timeout() {}
  function done() { completed(results) }
  function test(run, name) {
    try { run(); results.push({ name, status: 0 }) } catch (error) { results.push({ name, status: 1, message: String(error) }) }
  }
  setTimeout(() => completed(results));`;

const FILES: Record<string, string> = {
  'resources/testharness.js': HARNESS,
  'dom/abort/resources/shared.js': `const shared = 'shared';`,
  'dom/abort/good.any.js': `// META: script=resources/shared.js\n// META: variant=?a\n// META: variant=?b
    test(() => { if (shared !== 'shared' || !location.search) throw new Error('no') }, 'reads ' + location.search);
    test(() => { throw new Error('wrong') }, 'fails');`,
  'dom/abort/idlharness.any.js': `test(() => { throw new Error('left out') }, 'left out');`,
  'dom/abort/broken.any.js': `throw new Error('at load');`,
};

test('the runner counts the tests of each variant, and names failed ones', async () => {
  const checkout = await mkdtemp(join(tmpdir(), 'hw-wpt-'));
  try {
    for (const [path, content] of Object.entries(FILES)) {
      await mkdir(dirname(join(checkout, path)), { recursive: true });
      await writeFile(join(checkout, path), content);
    }
    const runner = join(import.meta.dirname, '../wpt/run-wpt.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      runner,
      checkout,
      '--area',
      'dom: abort',
      '--json',
    ]);
    const { 'dom: abort': area } = JSON.parse(stdout);
    expect([area.files, area.total, area.passed]).toEqual([2, 5, 2]);
    expect(area.failures.map((failure: { path: string; test: string }) => [failure.path, failure.test])).toEqual([
      ['dom/abort/broken.any.js', 'dom/abort/broken.any.js throws'],
      ['dom/abort/good.any.js?a', 'fails'],
      ['dom/abort/good.any.js?b', 'fails'],
    ]);
  } finally {
    await rm(checkout, { recursive: true });
  }
});
