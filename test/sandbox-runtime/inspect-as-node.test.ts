import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { KINDS } from '../support/shown-kinds.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

/** Expressions to show with `console.log`. */
const SHOWN = [
  'Array.from({ length: 7 }, (_, i) => i)',
  'Array.from({ length: 150 }, (_, i) => i)',
  'Array.from({ length: 101 }, (_, i) => i * 1000)',
  'Array.from({ length: 30 }, (_, i) => BigInt(i) ** 9n)',
  'Array.from({ length: 27 }, (_, i) => "x".repeat(i))',
  'Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i))',
  'Array.from({ length: 9 }, (_, i) => [i, { i }])',
  'Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? "three" : i))',
  '{ deep: { list: Array.from({ length: 40 }, (_, i) => i % 7 === 0 ? null : i / 3) } }',
  'new Uint8Array(200).map((_, i) => i)',
  'new Float64Array([0.1, 0.25, 1e21, -0, NaN, 7, 8])',
  'Object.assign([1, 2, 3, 4, 5, 6, 7, 8], { name: "list" })',
  '[1, , 2, , , 3, undefined, null, 9]',
  'new Set(Array.from({ length: 20 }, (_, i) => i))',
  'Array.from({ length: 8 }, () => "a long text that is alone in its line, more or less, as it is")',
  'new ArrayBuffer(4)',
  'new Uint8Array(120).buffer',
  'new DataView(new ArrayBuffer(3), 1)',
  '{ body: new Uint8Array([1, 2]).buffer }',
  'new Headers([["a", "1"], ["set-cookie", "x"], ["a", "2"]])',
  'new ReadableStream()',
  'new ReadableStream({ type: "bytes" })',
  'new WritableStream()',
  'new TransformStream()',
  'new Response("text", { status: 201, headers: { "x-y": "z" } })',
  'new Response()',
  '{ answer: { of: new Response("x") }, at: [new URL("https://a.example/b?c=d"), new Blob(["abc"])] }',
  'new URLSearchParams("a=1&b=2")',
  ...KINDS,
];

test('values are shown as Node shows them', async () => {
  const lines = SHOWN.map((expression) => `console.log(util.inspect((${expression})));`).join('\n');
  const { host, outcome } = await sandbox.run(withRun(lines, `import util from 'node:util';`));
  expect(outcome).toEqual(expect.objectContaining({ ok: true }));
  const here = shownByNode(SHOWN);
  expect(Object.fromEntries(SHOWN.map((expression, at) => [expression, host.messages()[at]]))).toEqual(
    Object.fromEntries(SHOWN.map((expression, at) => [expression, here[at]])),
  );
});

/** Too large for a list of all their keys, with the memory of a run. */
const LARGE = [
  'Array.from({ length: 2_000_000 }, (_, i) => i)',
  '[1, , 2, ...new Uint16Array(2_000_000), , 3]',
  'new Uint8Array(2_000_000)',
  'new Float64Array(2_000_000).fill(0.5)',
  'new BigInt64Array(2_000_000)',
  'Object.assign(new Uint8Array(2_000_000), { [Symbol.for("s")]: 1 })',
  'Buffer.alloc(5_000_000, "ab")',
  '{ body: Buffer.alloc(5_000_000), rows: [new Uint32Array(2_000_000)] }',
  'new Array(1e7)',
  'Object.assign([], { 5: "a", 4_000_000_000: "b" })',
  'Object.assign(Array.from({ length: 2000 }, (_, i) => i), { index: 1, 4294967295: 2, "-1": 3, "01": 4 })',
  'Object.assign(new Uint8Array(90_000), { note: "x" })',
  'Object.assign(Buffer.alloc(90_000), { note: "x", [Symbol.for("s")]: 1 })',
];

test.each(LARGE)('%s is shown as Node shows it', async (expression) => {
  const body = `const value = ${expression};
    console.log(value); console.dir(value); console.log(util.inspect(value, { showHidden: true })); throw value;`;
  const { host, outcome } = await sandbox.run(withRun(body, `import util from 'node:util';`));
  const script = `const util = require('node:util'); const value = ${expression};
    process.stdout.write(JSON.stringify([util.format(value), util.inspect(value, { customInspect: false }),
    util.inspect(value, { showHidden: true })]));`;
  const inNode = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as string[];
  expect(host.messages()).toEqual(inNode);
  expect(outcome).toMatchObject({ ok: false, fault: { message: `Thrown: ${inNode[0]}` } });
});

/** As a fresh process shows them: servers replace `Response` and `Request` of their own. */
function shownByNode(expressions: readonly string[]): string[] {
  const shown = expressions.map((expression) => `util.inspect((${expression}))`).join(',\n');
  const script = `const util = require('node:util'); process.stdout.write(JSON.stringify([${shown}]));`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as string[];
}

const CONSOLE_CALLS = `
  console.group('G'); console.log('a'); console.group(); console.log('b\\nc'); console.groupEnd();
  console.warn('d'); console.groupEnd(); console.log('e'); console.groupEnd();
  console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]);
  console.table([1, 'b', { x: 1 }]); console.table({ a: { x: 1 }, b: { y: 2 } });
  console.table(new Map([['k', 1], ['l', { a: 1 }]])); console.table(new Set([1, 2]));
  console.table('text'); console.table([{ a: 1, b: 2 }], ['b']); console.table([]);
  console.table([{ a: { deep: 1, b: 2, c: 3 } }, null]); console.table([{ a: [1, 2, 3, 4, 5] }]);
  console.assert(true, 'no'); console.assert(false); console.assert(false, 'a %s', 'b');
  console.assert(false, { a: 1 }); console.count(); console.count('x'); console.count();
  console.countReset(); console.count(); console.dir({ a: { b: { c: 1 } } }, { depth: 0 });
  console.dirxml({ a: 1 }, [2]); console.log(); console.log(''); console.log('%c red', 'color: red');
  console.log('%s is %d, %i, %f, %j %o %O %%', 'Bob', 42, '42.5px', 1.5, { a: 1 }, [1], { b: { c: {} } }, 'more');
  console.log('lone \\ud800 nul \\0 end'); console.log('100%'); console.log('%s %s', 'only'); console.log('%i', {});
`;

test('the methods of console write the same as in Node', async () => {
  const { host, outcome } = await sandbox.run(withRun(CONSOLE_CALLS));
  expect(outcome).toMatchObject({ ok: true });
  const script = `const lines = [];
    for (const name of ['stdout', 'stderr']) process[name].write = (text) => void lines.push(text.replace(/\\n$/, ''));
    ${CONSOLE_CALLS}
    require('node:fs').writeSync(1, JSON.stringify(lines));`;
  const inNode = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as string[];
  expect(host.messages()).toEqual(inNode.map((line) => line.toWellFormed()));
});
