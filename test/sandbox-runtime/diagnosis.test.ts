import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const SHOWN = [
  `new Headers({ 'content-type': 'text/plain', a: 'b' })`,
  `new Headers()`,
  `new URL('https://u:p@a.example:8/b?c=d#e')`,
  `new URLSearchParams({ a: 1, 'b c': 'd' })`,
  `new URLSearchParams()`,
  `Buffer.from('abc')`,
  `new Blob(['abc'], { type: 'text/csv' })`,
  `{ url: new URLSearchParams({ a: 1 }), headers: new Headers({ a: 'b' }) }`,
  `new Map([['a', { b: [1, 2] }], [{ c: 1 }, new Set(['d'])]])`,
  `new Set([1, 'a', [2]])`,
  `new (class Item { id = 1; name = 'a' })()`,
  `[undefined, null, true, 1n, -0, Symbol('s'), 'text', () => 1, class A {}]`,
  `{ a: { b: { c: { d: 1 } } } }`,
  `Object.create(null)`,
  `[new Date(0), /x/g, new Uint8Array(2), Promise.resolve(1).then]`,
  `'text %s', 'more', { a: 1 }`,
  `'%s and %d and %j', 'a', 1, { b: 2 }`,
];

test.each(SHOWN)('console.log prints %s as Node does', async (shown) => {
  const { host } = await sandbox.run(withRun(`console.log(${shown})`));
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', `console.log(${shown})`]);
  expect(`${host.messages()[0]}\n`).toBe(stdout);
});

test('the causes of an error, its errors and the answer that it is about are in the record of the run', async () => {
  const { outcome } = await sandbox.run(
    withRun(`const inner = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      const many = new AggregateError([new TypeError('first'), new RangeError('second')], 'all failed', { cause: inner });
      throw Object.assign(new Error('Request failed', { cause: many }), { response: { status: 422, data: { error: 'name is missing' } } });`),
  );
  const stack = outcome.ok ? '' : (outcome.fault.stack ?? '');
  expect(stack).toMatch(/^Request failed\n {4}at .*component\.js/);
  for (const line of [
    '  [response]: 422 {"error":"name is missing"}',
    '  [cause]: AggregateError: all failed',
    '    [cause]: Error: refused (ECONNREFUSED)',
    '    [errors]: TypeError: first',
    '    [errors]: RangeError: second',
  ])
    expect(stack.split('\n')).toContain(line);
});
