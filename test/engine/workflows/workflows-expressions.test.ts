import { Script } from 'node:vm';
import { fc } from '../../support/properties.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkExpression } from '../../../engine/src/workflows/expressions/check-expression.ts';
import { expressionBudget, findExpressionProblem } from '../../../engine/src/workflows/expressions/check-value.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { echo, makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

const check = (expression: string) => checkExpression(expression, ['fetch_user', '$a']);
const found = (value: unknown, budget = expressionBudget()) =>
  findExpressionProblem(value, { before: ['fetch_user'], budget, noteVariable: () => undefined }, () =>
    Promise.resolve(),
  );
const problem = async (value: unknown) => (await found(value))?.message;

describe('an expression', () => {
  test.each([
    'steps.trigger.event.body.items[0].id',
    'steps.fetch_user.$return_value?.name ?? "nobody"',
    'steps["fetch_user"].n + steps.$a.n',
    'steps[`$a`]',
    'JSON.stringify(steps)',
    'steps[Object.keys(steps).at(-1)]',
    'steps.trigger.event.items.map(({ id, n: [first = 0, ...rest] }, i) => ({ id, i, first, rest }))',
    '(function total(...all) { let sum = 0; for (const n of all) sum += n; return sum + arguments.length; })(1, 2)',
    '(() => { try { throw 1; } catch (error) { return error; } finally { label: for (;;) break label; } })()',
    '{ a: 1, steps: { later: 1 } }',
    'new Date(steps.trigger.context.ts).toISOString()',
    'encodeURIComponent(`${steps.trigger.event.q}`).replace(/%20/g, "+")',
    '(class { static #n = 1; static get() { return this.#n; } }).get()',
    ' 1 /* one */ // and no more\n',
    '(1)',
  ])('%s is taken', (expression) => {
    expect(check(expression)).toEqual({ ok: true, env: [] });
  });

  test.each([
    [
      'steps.later.x',
      0,
      'There is no steps.later yet when this step runs; there is steps.trigger, steps.fetch_user, steps.$a',
    ],
    ['1 + steps["constructor"]', 4, 'There is no steps.constructor'],
    ['[1].map((steps) => steps.x).concat(steps.x)', 35, 'There is no steps.x'],
    ['fetch("http://example.com")', 0, 'fetch is not known'],
    ['user.name', 0, 'user is not known'],
    ['((a) => a + b)(1)', 12, 'b is not known'],
    ['{ a }', 2, 'a is not known'],
    ['process.env.TOKEN', 0, 'an environment variable is env.NAME'],
    ['env', 0, 'env is read as env.NAME'],
    ['Object.keys(env)', 12, 'env is read as env.NAME'],
    ['env[steps.trigger.event.name]', 0, 'env is read as env.NAME'],
    ['env["no name"]', 0, 'env is read as env.NAME'],
    ['import("fs")', 0, 'import is for components'],
    ['import.meta.url', 0, 'import is for components'],
    ['await 1', 0, 'await works only in async functions'],
    ['a b', 2, 'There is text behind the end'],
    ['1; 2', 1, 'There is text behind the end'],
    ['a) + (b', 1, 'There is text behind the end'],
    ['steps.', 6, 'Unexpected token'],
    ['if (1) 2', 0, 'Unexpected token'],
    ['', 0, 'Unexpected token'],
    ['"', 0, 'Unterminated string'],
    ['0777', 0, 'Invalid number'],
    ['/(?<a>)|(?<a>)/', 1, 'Invalid regular expression: Duplicate capture group name'],
    ['10_000 + ' + '1 + '.repeat(2_500) + '1', 0, 'more than 10000 characters'],
  ])('%s is refused at %d', (expression, at, message) => {
    const outcome = check(expression);
    expect(outcome).toMatchObject({ ok: false, at, message: expect.stringContaining(message) });
  });

  test('names the environment variables that it reads, each once', () => {
    expect(check('env.TOKEN + env["TOKEN"] + env?.OTHER + ((env) => env.NOT)({})')).toEqual({
      ok: true,
      env: ['TOKEN', 'OTHER'],
    });
  });

  test.each([
    ['('.repeat(4_900), ')'],
    ['['.repeat(4_900), ']'],
    ['!'.repeat(9_000), ''],
    ['a=>'.repeat(3_000), ''],
    ['steps.trigger+'.repeat(700), ''],
  ])('nested too deeply is refused: %.9s…', (open, close) => {
    expect(check(`${open}1${close.repeat(open.length)}`.slice(0, LIMITS.maxExpressionChars))).toMatchObject({
      ok: false,
      message: 'It is nested deeper than 200 levels',
      limit: { name: 'maxExpressionDepth', value: 200, used: expect.any(Number) },
    });
  });

  test('above the length limit is refused with the limit', () => {
    const limit = { name: 'maxExpressionChars', value: 10_000, used: 10_001 };
    expect(check('1'.repeat(10_001))).toMatchObject({ ok: false, limit });
  });

  test('is checked without an exception, in any form', async () => {
    const words =
      'steps env . ?. [ ] ( ) { } ` ${ }} " \' / // /* */ => function class async await yield import new super this a #p ... , ; : ' +
      '= \\u{61} 1 0x 1n ++ <!-- --> @ \0 let for of in \u2028 \ud800';
    const fragments = fc.constantFrom('\n', ...words.split(' '));
    const made = fc.array(fragments, { maxLength: 30 }).map((all) => all.join(' '));
    const messages: string[] = [];
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), made), async (expression) => {
        const outcome = check(expression);
        if (!outcome.ok) messages.push(outcome.message);
        await problem({ [expression]: [expression, `{{${expression}}}`] });
      }),
      { numRuns: 3_000 },
    );
    expect(messages.length).toBeGreaterThan(1_000);
    expect(messages.filter((message) => message.trim() === '')).toEqual([]);
  });

  test('accepted here is accepted by the language too', () => {
    const fragments = fc.constantFrom(...'steps .trigger [0] ( ) + => a { } , `x` ? : ! 1 /a/ of'.split(' '));
    const taken: string[] = [];
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 12 }), (parts) => {
        const expression = parts.join('');
        if (check(expression).ok) taken.push(expression);
      }),
      { numRuns: 3_000 },
    );
    expect(taken.length).toBeGreaterThan(20);
    const isCode = (expression: string) => {
      try {
        return typeof new Script(`(steps, env) => { "use strict"; return (${expression}\n); }`) === 'object';
      } catch {
        return false;
      }
    };
    expect(taken.filter((expression) => !isCode(expression))).toEqual([]);
  });
});

describe('a value', () => {
  test('is searched at any depth, and the place of a mistake is named', async () => {
    expect(await problem({ list: ['fine', { to: 'Dear {{ nobody.name }}' }] })).toBe(
      'At list[1].to: nobody is not known in expressions: use steps, env or names of the language (at character 9, in {{ nobody.name }})',
    );
    expect(await problem('{{steps.fetch_user.a}} and {{steps.trigger.event}}')).toBeUndefined();
    expect(await problem('Hello {{steps.trigger')).toBe(
      'The expression that begins here has no }} at its end (at character 9)',
    );
    expect(await problem(String.raw`\{{ not one }}`)).toBeUndefined();
    expect(await problem({ '{{nobody}}': 1 })).toBeUndefined();
  });

  test('may hold as many expressions as a workflow may, and not one more', async () => {
    const budget = expressionBudget();
    expect(await found('{{1}}'.repeat(LIMITS.maxWorkflowExpressions), budget)).toBeUndefined();
    expect(await found('{{1}}', budget)).toEqual({
      message: expect.stringContaining('at most 5000 expressions'),
      limit: { name: 'maxWorkflowExpressions', value: 5_000, used: 5_001 },
    });
    expect(await found(`{{"${'x'.repeat(9_990)}"}}`.repeat(53))).toEqual({
      message: expect.stringContaining('524288 characters'),
      limit: { name: 'maxWorkflowExpressionChars', value: 524_288, used: 53 * 9_992 },
    });
  });
});

describe('at deployment', () => {
  let hw: Headwater;
  beforeAll(async () => {
    hw = await sharedHeadwater();
  });
  afterAll(() => hw.stop());

  test('a step sees the trigger and the steps before it, not itself and not those after it', async () => {
    const steps = [
      echo('a'),
      echo('b', { text: '{{steps.a}}{{steps.b}}' }),
      echo('c', { data: { x: '{{steps.d.y}}' } }),
      echo('d'),
    ];
    const refused = await hw.api('POST', '/workflows', { steps });
    expect(refused.status).toBe(400);
    expect(problemsOf(refused)).toEqual({
      'steps.1.props.text':
        'Step b: There is no steps.b yet when this step runs; there is steps.trigger, steps.a (at character 14, in {{steps.b}})',
      'steps.2.props.data':
        'Step c: At x: There is no steps.d yet when this step runs; there is steps.trigger, steps.a, steps.b (at character 3, in {{steps.d.y}})',
    });
  });

  test.each([
    ['maxExpressionChars', `{{"${'x'.repeat(10_000)}"}}`],
    ['maxExpressionDepth', `{{${'!'.repeat(300)}1}}`],
    ['maxWorkflowExpressions', '{{1}}'.repeat(5_001)],
  ] as const)('the answer to one over %s names it', async (name, text) => {
    // Two errors: the limit is reported even if it is not the first.
    const refused = await hw.api('POST', '/workflows', { steps: [echo('a', { count: 'x' }), echo('b', { text })] });
    expect(refused.status).toBe(400);
    const value = LIMITS[name];
    const { limit } = JSON.parse(refused.text) as { limit: { used: number } };
    expect(limit).toEqual({ name, value, used: expect.any(Number) });
    expect(limit.used).toBeGreaterThan(value);
  });

  test('variables are those that the account has, also in secrets', async () => {
    await hw.api('PUT', '/environment_variables/TOKEN', { value: 'v' });
    const steps = [echo('a', { text: '{{env.TOKEN}}' }), echo('b', { token: 'Bearer {{env.MISSING}}' })];
    const nested = echo('c', {
      list: ['{{env.TOKEN}}', '{{env.LOST + env.MISSING}}'],
      data: { a: { b: '{{env.LOST}}' } },
    });
    const refused = await hw.api('POST', '/workflows', { steps: [...steps, nested] });
    expect(refused.status).toBe(400);
    const missing = (step: string, name: string) =>
      `Step ${step}: The account has no environment variable ${name}; make it with PUT /v1/environment_variables/${name}`;
    expect(problemsOf(refused)).toEqual({
      'steps.1.props.token': missing('b', 'MISSING'),
      'steps.2.props.list.1': missing('c', 'MISSING'),
      'steps.2.props.data.a.b': missing('c', 'LOST'),
    });
    expect(refused.text).toContain(missing('c', 'LOST'));
    await hw.api('PUT', '/environment_variables/MISSING', { value: 'v' });
    const made = await makeWorkflow(hw, { steps });
    const [row] = await hw.sql`select steps from deployments where id = ${made.deployment_id}`;
    expect(row?.['steps']).toMatchObject([{ env: ['TOKEN'] }, { env: ['MISSING'] }]);
  });

  test('in the props of a source {{…}} is text like any other', async () => {
    const code = `export default { name: 'S', version: '1', props: { text: 'string' }, run() { this.$emit(this.text); } };`;
    const source = await hw.deploy(code, { text: '{{env.TOKEN}} {{nobody' });
    await hw.api('POST', `/sources/${source.id}/run`, {});
    const [event] = await hw.untilEvents(source.id, 1);
    expect(event?.event).toBe('{{env.TOKEN}} {{nobody');
  });
});
