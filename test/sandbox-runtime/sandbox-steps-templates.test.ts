import { type Context, createContext, runInContext } from 'node:vm';
import { fc } from '../support/properties.ts';
import { describe, expect, test } from 'vitest';
import type { RunProp } from '../../shared/src/index.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';
import { runStep, type StepOptions } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

const STEPS = {
  trigger: { event: { body: { name: 'Ada', tags: ['a', 'b'], 'x y': 1, nothing: null } }, context: { id: 'exec_1' } },
  foo: { $return_value: [{ id: 7 }], user: { name: 'Bo' }, count: 0, no: false, text: '', big: 1e21 },
};

/** An action that returns its props as they are. */
function showing(props: Record<string, string> = {}): string {
  const definitions = Object.entries(props).map(([name, type]) => `${JSON.stringify(name)}: ${JSON.stringify(type)}`);
  return `export default { name: 'a', version: '1', type: 'action', props: { ${definitions.join(', ')} },
    run() { const { $emit, ...props } = this; return props; } };`;
}

const template = (value: unknown, type?: string): RunProp => ({ kind: 'template', value, ...(type && { type }) });

async function fill(value: unknown, options: StepOptions & { type?: string; code?: string } = {}) {
  const { type, code = showing(), ...rest } = options;
  const ran = await runStep(sandbox.run, code, {
    steps: STEPS,
    namespace: 'send',
    props: { text: template(value, type) },
    ...rest,
  });
  return { ...ran, value: (ran.returned as { text?: unknown } | undefined)?.text };
}

describe('an expression', () => {
  test.each([
    ['{{steps.trigger.event.body.name}}', 'Ada'],
    ['{{ steps.trigger.event.body }}', STEPS.trigger.event.body],
    ['{{steps.foo.$return_value[0].id}}', 7],
    ['{{steps.trigger.event.body["x y"]}}', 1],
    ['{{steps.foo.count}}', 0],
    ['{{steps.foo.no}}', false],
    ['{{steps.trigger.event.body.nothing}}', null],
    ['{{steps.trigger.event.body.tags.length}}', 2],
    ['{{env.KEY}}', 'secret'],
    ['{{steps.foo.none?.id}}', undefined],
    ['{{steps.foo?.none}}', undefined],
    ['{{steps.trigger.event.body.nothing?.id.more}}', undefined],
    ['{{steps.foo.count + 1}}', 1],
    ['{{steps.trigger.event.body.tags.map((tag) => ({ tag }))}}', [{ tag: 'a' }, { tag: 'b' }]],
    ['{{ { a: [steps.foo.count], b: `}}${"}}"}` } }}', { a: [0], b: '}}}}' }],
    ['{{ new Date(0) }}', '1970-01-01T00:00:00.000Z'],
    ['{{ steps.foo.count // the count\n}}', 0],
    ['{{ JSON.parse(\'{"a":1}\').a }}', 1],
    ['{{ this === undefined }}', true],
  ])('%s keeps its type', async (text, expected) => {
    const ran = await fill(text, { env: { KEY: 'secret' } });
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.value).toEqual(expected);
  });

  test.each([
    ['Dear {{steps.trigger.event.body.name}}!', 'Dear Ada!'],
    ['{{steps.foo.count}}{{steps.foo.no}}', '0false'],
    [' {{steps.foo.count}}', ' 0'],
    ['<{{steps.trigger.event.body.nothing}}{{steps.foo.none?.id}}>', '<>'],
    ['user: {{steps.foo.user}}, {{steps.trigger.event.body.tags}}', 'user: {"name":"Bo"}, ["a","b"]'],
    ['at {{new Date(0)}} {{10n}}', 'at 1970-01-01T00:00:00.000Z 10'],
    ['\\{{a}} {{env.KEY}}', '{{a}} secret'],
    ['\\{{a}}', '{{a}}'],
  ])('%s becomes text', async (text, expected) => {
    expect((await fill(text, { env: { KEY: 'secret' } })).value).toBe(expected);
  });

  test('expressions are found at any depth, and names are no templates', async () => {
    const value = { a: ['{{steps.foo.count}}', { b: 'x{{steps.foo.count}}' }, 5, null], '{{n}}': true };
    expect((await fill(value)).value).toEqual({ a: [0, { b: 'x0' }, 5, null], '{{n}}': true });
  });

  test('the result of an earlier step fits as JSON in a text', async () => {
    const steps = { trigger: { event: { __proto__: null, body: 1 } } };
    expect((await fill('{{steps["trigger"].event}}', { steps })).value).toEqual({ body: 1 });
  });

  test('a warm isolate fills the same template with what is now', async () => {
    const code = showing();
    const options = { isolateKey: 'p_warm:1', code };
    expect((await fill('{{steps.n.a}}-{{env.X}}', { ...options, steps: { n: { a: 1 } }, env: { X: 'x' } })).value).toBe(
      '1-x',
    );
    expect((await fill('{{steps.n.a}}-{{env.X}}', { ...options, steps: { n: { a: 2 } }, env: { X: 'y' } })).value).toBe(
      '2-y',
    );
  });

  test('a run of a source has no templates', async () => {
    const ran = await sandbox.run(`export default { name: 'a', version: '1', run() {} };`, {
      props: { a: template('{{1}}') },
    });
    expect(ran.outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining("prop 'a'") } });
  });
});

describe('missing values', () => {
  const about = 'The prop `text` of the step `send` wants';
  test.each([
    ['{{steps.foo.user.id}}', `${about} \`steps.foo.user.id\`, but \`steps.foo.user\` has no \`id\` (it has \`name\`)`],
    [
      'a {{steps.foo.user.id.x}}',
      `${about} \`steps.foo.user.id.x\`, but \`steps.foo.user\` has no \`id\` (it has \`name\`)`,
    ],
    ['{{steps.bar}}', `${about} \`steps.bar\`, but \`steps\` has no \`bar\` (it has \`trigger\`, \`foo\`)`],
    ['{{steps.trigger.event.body.nothing.id}}', '`steps.trigger.event.body.nothing` is null'],
    ['{{steps.foo.$return_value[1].id}}', '`steps.foo.$return_value` has no `1`'],
    ['{{steps.foo.count.x}}', '`steps.foo.count` has no `x`'],
    ['{{env.NONE}}', `${about} \`env.NONE\`, but \`env\` has no \`NONE\``],
    ['{{steps.constructor}}', '`steps` has no `constructor`'],
    ['{{steps.foo.__proto__}}', '`steps.foo` has no `__proto__`'],
    ['{{steps.foo.toString}}', '`steps.foo` has no `toString`'],
    [
      '{{steps.foo.none.id + 1}}',
      `${about} \`steps.foo.none.id + 1\`, but Cannot read properties of undefined (reading 'id')`,
    ],
    ['{{none}}', `${about} \`none\`, but none is not defined`],
    ['{{(() => { throw new Error("mine") })()}}', 'but mine'],
    ['{{(() => { throw "mine" })()}}', 'but mine'],
    ['{{1 +}}', 'has an expression that is not JavaScript, `1 +`'],
    ['a {{', 'The prop `text` of the step `send` cannot be read at character 5: '],
  ])('%s is an error with the reason', async (text, message) => {
    const ran = await fill(text);
    expect(ran.outcome).toMatchObject({
      ok: false,
      fault: { code: 'CONFIGURATION_ERROR', message: expect.stringContaining(message) },
    });
    expect(ran.outcome).not.toHaveProperty('fault.stack');
  });

  test('nothing of the component runs before its props are there', async () => {
    const code = `export default { name: 'a', version: '1', type: 'action', run() { console.log('ran') } };`;
    const ran = await fill('{{steps.none}}', { code });
    expect(ran.host.messages()).toEqual([]);
  });
});

describe('the type of the prop', () => {
  test.each([
    ['integer', '"12"', 12],
    ['integer', '"1.5"', '1.5'],
    ['integer', '"x"', 'x'],
    ['integer', '""', ''],
    ['integer', '"0x10"', '0x10'],
    ['integer', '"9007199254740993"', '9007199254740993'],
    ['integer', '12', 12],
    ['number', '" 1.5e3 "', 1500],
    ['boolean', '"true"', true],
    ['boolean', '"False"', false],
    ['boolean', '"yes"', 'yes'],
    ['object', `'{"a":[1]}'`, { a: [1] }],
    ['object', `'{"a":'`, '{"a":'],
    ['string', '12', 12],
    ['string', `'{"a":1}'`, '{"a":1}'],
    ['any', '"12"', '12'],
    ['integer[]', `'[1,"2"]'`, [1, 2]],
    ['integer[]', '["1", 2]', [1, 2]],
    ['string[]', `'["a"]'`, ['a']],
    ['string[]', '"a"', 'a'],
  ])('%s takes %s as %j', async (type, expression, expected) => {
    expect((await fill(`{{${expression}}}`, { type })).value).toEqual(expected);
    expect((await fill(`{{${expression}}}`, { code: showing({ text: type }) })).value).toEqual(expected);
  });

  test('a request that is configured with expressions can be executed', async () => {
    const code = `export default { name: 'a', version: '1', type: 'action', props: { text: 'http_request' },
      async run() { return [typeof this.text.execute, this.text.url]; } };`;
    const value = { method: 'GET', url: 'https://a.test/{{steps.foo.user.name}}' };
    const { returned } = await fill(value, { code });
    expect(returned).toEqual(['function', 'https://a.test/Bo']);
  });

  test('a query that is configured with expressions is one', async () => {
    const code = `export default { name: 'a', version: '1', type: 'action', props: { text: 'sql' }, run() { return this.text.query; } };`;
    expect((await fill('select {{steps.foo.count}}', { code })).returned).toBe('select 0');
  });
});

test('time that an expression takes is time of the run', async () => {
  const ran = await fill('{{ (() => { for (;;) {} })() }}', { cpuMs: 200 });
  expect(ran.outcome).toMatchObject({ fault: { code: 'CPU_LIMIT' } });
});

test('any expression has the value that JavaScript gives it', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '{', '}', '\\', '"', ' ', 'é', '\n'), maxLength: 8 });
  const name = fc.constantFrom('a', 'b', '$c', 'dé', 'length', 'x y', '0', '__proto__');
  const { data } = fc.letrec((tie) => ({
    data: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(0, 1, -1.5, true, false, null, '', 'text', '"}}', '{{'),
      fc.array(tie('data'), { maxLength: 3 }),
      fc.dictionary(name, tie('data'), { maxKeys: 3 }),
    ),
  }));
  const part = fc.oneof(
    name.map((key) => (/^[\w$é]+$/.test(key) && !/^\d/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)),
    fc.nat(2).map((index) => `[${index}]`),
    fc.constantFrom('?.a', '?.[0]', ' . a ', "['b']"),
  );
  const path = fc.array(part, { maxLength: 4 }).map((parts) => `steps.s${parts.join('')}`);
  const expression = fc.oneof(
    path,
    path.map((source) => `${source} ?? "}}"`),
    path.map((source) => `JSON.stringify(${source})`),
    path.map((source) => `[${source}, {"a": {}}]`),
    path.map((source) => `typeof ${source} === /}}/.source ? 1 : 2 /2`),
  );
  const property = fc.asyncProperty(
    data,
    fc.array(fc.tuple(text, expression, text), { minLength: 1, maxLength: 20 }),
    async (value, pieces) => {
      const steps = JSON.parse(JSON.stringify({ s: value })) as Record<string, unknown>;
      const cases = pieces.flatMap(([before, source, after]) => {
        const expected = evaluate(source, steps);
        if (expected === MISSING) return [];
        const whole = { text: `{{${source}}}`, expected };
        const [start, end] = [written(`${before}-`), after];
        const mixed = {
          text: `${start.text}{{${source}}}${written(end).plain}`,
          expected: `${start.expected}${asText(expected)}${end}`,
        };
        return [whole, mixed];
      });
      const props = Object.fromEntries(cases.map((each, index) => [`p${index}`, template(each.text)]));
      const ran = await runStep(sandbox.run, showing(), { steps, props, isolateKey: 'p_property:1' });
      expect(ran.outcome).toMatchObject({ ok: true });
      const expected = Object.fromEntries(cases.map((each, index) => [`p${index}`, each.expected]));
      expect(ran.returned).toEqual(JSON.parse(JSON.stringify(expected)));
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

const MISSING = Symbol('missing');
const realms = [createContext(), createContext()];
runInContext('delete Object.prototype.__proto__', realms[1] as Context);

/**
 * Result in JavaScript. MISSING for an error, for undefined, and for a value that needs a
 * prototype: paths never read prototypes.
 */
function evaluate(source: string, steps: unknown): unknown {
  const [answer, bareAnswer] = realms.map((realm) => answerIn(realm, source, steps));
  return answer === undefined || answer !== bareAnswer ? MISSING : JSON.parse(answer);
}

function answerIn(realm: Context, source: string, steps: unknown): string | undefined {
  const given = JSON.stringify(JSON.stringify(steps));
  const script = `JSON.stringify(((steps) => { "use strict"; return (${source}); })(JSON.parse(${given})))`;
  try {
    return runInContext(script, realm) as string | undefined;
  } catch {
    // Its path leads nowhere.
    return undefined;
  }
}

function written(text: string): { text: string; plain: string; expected: string } {
  const plain = text.replaceAll(/(\\*)\{\{/g, '$1$1\\{{');
  return { text: plain.replace(/\\+$/, '$&$&'), plain, expected: text };
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number);
}
