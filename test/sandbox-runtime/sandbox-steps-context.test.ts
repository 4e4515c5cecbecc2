import { describe, expect, test } from 'vitest';
import { addStep, NO_STEPS } from '@headwater/sandbox-runtime';
import type { RunProp } from '../../shared/src/index.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';
import { runStep, stepInput, type StepOptions, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();
const run = (code: string, options?: StepOptions) => runStep(sandbox.run, code, options);
const body = (text: string, options?: StepOptions) => run(withStep(text), options);

describe('inputs of a step', () => {
  test('steps has the exports and results of every step before, and the trigger', async () => {
    const steps = {
      trigger: { event: { body: { a: [1, 'ü', '😀', null] } }, context: { id: 'exec_1' } },
      first: { $return_value: { id: 7 }, name: 'é', $summary: 'done' },
      empty: {},
    };
    const ran = await body('return { steps, names: Object.keys(steps), same: steps.first === steps.first };', {
      steps,
    });
    expect(ran.returned).toEqual({ steps, names: ['trigger', 'first', 'empty'], same: true });
  });

  test('a change of steps in one run is invisible to other runs', async () => {
    const code = withStep(
      'const seen = steps.a.n; steps.a.n = 5; steps.a = 1; steps.b = 2; return [seen, steps.a, Object.keys(steps)];',
    );
    const options = { steps: { a: { n: 1 } }, isolateKey: 'p_x.c_x:1' };
    expect((await run(code, options)).returned).toEqual([1, 1, ['a', 'b']]);
    expect((await run(code, options)).returned).toEqual([1, 1, ['a', 'b']]);
  });

  test('a namespace that is a name of the prototype is a name like any other', async () => {
    const steps = JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2},"hasOwnProperty":{"c":3}}') as Record<
      string,
      unknown
    >;
    const ran = await body(
      'return [steps.__proto__, steps.constructor, Object.keys(steps), Object.getPrototypeOf(steps) === Object.prototype];',
      { steps },
    );
    expect(ran.returned).toEqual([{ a: 1 }, { b: 2 }, ['__proto__', 'constructor', 'hasOwnProperty'], true]);
  });

  test('much that is never asked for is never parsed', async () => {
    const code = withStep('return Object.keys(steps);');
    const { outcome } = await sandbox.run(code, {
      entry: {
        kind: 'step',
        input: { ...stepInput(), steps: addStep(NO_STEPS, { namespace: 'broken', exports: '{'.padEnd(20_000) }) },
      },
    });
    expect(outcome).toMatchObject({ ok: true, result: '["broken"]' });
  });

  test('steps can be shown in the log', async () => {
    const ran = await body('console.log(steps); console.log("%j", steps.a);', { steps: { a: { n: 1 } } });
    expect(ran.host.messages()).toEqual(['{ a: { n: 1 } }', '{"n":1}']);
  });

  test('this has props and methods, and $.context is what it was given', async () => {
    const props: Record<string, RunProp> = { n: { kind: 'value', value: 2 } };
    const code = `export default { name: 'a', version: '1', type: 'action', props: { n: 'integer' },
      methods: { double() { return this.n * 2; } },
      async run({ $ }) { $.debug = 1; return { double: this.double(), context: $.context }; } };`;
    const context = { id: 'exec_1', JIT: true, run: { runs: 3, context: { page: 2 } }, resume: { body: 1 } };
    expect((await run(code, { props, context })).returned).toEqual({ double: 4, context });
  });

  test('megabytes of steps cross as they are', async () => {
    const steps = { big: { text: '"\\\n'.repeat(1_000_000) }, last: { ok: 'ü' } };
    expect((await body('return [steps.big.text.length, steps.last.ok];', { steps })).returned).toEqual([
      3_000_000,
      'ü',
    ]);
  });
});

describe('results of a step', () => {
  test.each([
    ['return { a: 1, f() {}, u: undefined, d: new Date(0) };', { a: 1, d: '1970-01-01T00:00:00.000Z' }],
    ['return [undefined, () => {}];', [null, null]],
    ['return null;', null],
    ['return 0;', 0],
    ['return "text";', 'text'],
    ['return Number.NaN;', null],
    ['return;', undefined],
    ['return () => {};', undefined],
  ])('%s', async (code, expected) => {
    const ran = await body(code);
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.returned).toEqual(expected);
  });

  test('a run method without a promise returns as well', async () => {
    const ran = await run(`export default { name: 'a', version: '1', type: 'action', run() { return 5; } };`);
    expect(ran.returned).toBe(5);
  });

  test('a result without a JSON form is an error that says so', async () => {
    const big = await body('return { n: 1n };');
    expect(big.outcome).toMatchObject({
      fault: { code: 'COMPONENT_ERROR', message: expect.stringMatching(/What the step returns.*BigInt/) },
    });
    const cycle = await body('const a = {}; a.a = a; return a;');
    expect(cycle.outcome).toMatchObject({
      fault: { message: expect.stringMatching(/What the step returns.*circular/i) },
    });
  });

  test('a result over its own limit fails with that limit', async () => {
    const account = { maxResultBytes: 1_024 };
    expect((await body('return "x".repeat(1_022);', { account })).outcome).toMatchObject({ ok: true });
    expect((await body('return "x".repeat(1_023);', { account })).outcome).toMatchObject({
      fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxResultBytes', value: 1_024, used: 1_025 } },
    });
  });

  test('a result over the limit of a run fails with that limit', async () => {
    const ran = await body('return "x".repeat(70_000);', { account: { maxRunOutputBytes: 65_536 } });
    expect(ran.outcome).toMatchObject({ fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } } });
  });
});
