import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { action } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const source = (props: string, more = '') => `${more} export default {
  name: 'Props', version: '1', props: { ${props} }, run() { this.$emit({ p: this.p }); },
};`;

async function deploy(code: string, values: object) {
  const { status, data, text } = await hw.api('POST', '/sources', { component_code: code, configured_props: values });
  const { errors = [] } = JSON.parse(text) as { errors?: { path: string; message: string }[] };
  return { status, id: data?.id as string, errors: errors.map(({ path, message }) => `${path} ${message}`) };
}

test.each([
  [`{ type: 'integer', options: ['1', '2'] }`, '1'],
  [`{ type: 'integer', options: ['1', '2'] }`, 2],
  [`{ type: 'string', options: [{ label: 'Answer', value: 42 }] }`, 42],
  [`{ type: 'string', options: [{ label: 'Deep', value: { a: [1] } }] }`, { a: [1] }],
  [`{ type: 'boolean', options: [{ label: 'Yes', value: 'true' }] }`, 'true'],
  [`{ type: 'integer', max: 5, options: [10] }`, 10],
  [`{ type: 'integer[]', options: ['1', '2'] }`, ['2', 3]],
  [`{ type: 'string[]', options: [{ label: 'L', value: 7 }] }`, [7, 'x']],
  [`{ type: 'string', async options() { return [{ label: 'Answer', value: 42 }]; } }`, 42],
  [`{ type: 'integer', async options() { return ['1']; } }`, '1'],
  [`{ type: 'integer[]', async options() { return ['1']; } }`, ['1']],
])('an option of %s is taken and passed on unchanged: %j', async (definition, p) => {
  const { id, errors } = await deploy(source(`p: ${definition}`), { p });
  expect(errors).toEqual([]);
  await hw.api('POST', `/sources/${id}/run`);
  expect((await hw.untilEvents(id, 1))[0]?.event).toEqual({ p });
});

test.each([
  [`{ type: 'integer', default: '10' }`, '10'],
  [`{ type: 'string', default: 5 }`, 5],
  [`{ type: 'boolean', default: 'true' }`, 'true'],
  [`{ type: 'integer', default: 0 }`, 0],
  [`{ type: 'boolean', default: false }`, false],
  [`{ type: 'string', default: '' }`, ''],
])('the default of %s is taken and passed on as it is written: %j', async (definition, p) => {
  const { id, errors } = await deploy(source(`p: ${definition}`), {});
  expect(errors).toEqual([]);
  await hw.api('POST', `/sources/${id}/run`);
  expect((await hw.untilEvents(id, 1))[0]?.event).toEqual({ p });
});

test.each([
  [`{ type: 'integer', options: ['1', '2'] }`, '3', 'Expected an integer, got a string'],
  [`{ type: 'string', options: [{ label: '42', value: 42 }] }`, 43, 'Expected a string, got a number'],
  [`{ type: 'string', async options() { return []; } }`, { value: 1 }, 'Expected a string, got an object'],
])('a value outside the options of %s has to be of its type: %j', async (definition, p, message) => {
  expect((await deploy(source(`p: ${definition}`), { p })).errors).toEqual([`configured_props.p ${message}`]);
});

test.each([
  ['{ items: ["a"] }', 'an object with items'],
  ['new Set(["a"])', 'a Set: spread it into a list'],
  ['new Map([["a", 1]])', 'a Map: spread it into a list'],
  ['"a,b"', 'a string'],
  ['7', 'a number'],
  ['{ options: { a: 1 } }', 'an object with a'],
  ['{}', 'an empty object'],
])('options that answer %s are an error that says so', async (answer, kind) => {
  const code = source(`p: { type: 'string', async options() { return ${answer}; } }`);
  const saved = await hw.api('POST', '/components', { component_code: code });
  const { status, text } = await hw.api('POST', `/components/${saved.data.id}/configure`, { prop_name: 'p' });
  expect([status, (JSON.parse(text) as { detail: string }).detail]).toEqual([
    422,
    expect.stringContaining(`The options of 'p' must be a list, or { options, context }, not ${kind}`),
  ]);
});

test.each(['undefined', '[]', '{ options: [] }', '{ context: { next: 1 } }'])('%s are no options', async (answer) => {
  const code = source(`p: { type: 'string', async options() { return ${answer}; } }`);
  const saved = await hw.api('POST', '/components', { component_code: code });
  const { data } = await hw.api('POST', `/components/${saved.data.id}/configure`, { prop_name: 'p' });
  expect(data.options).toEqual([]);
});

describe('a propDefinition', () => {
  const APPS = `
    const base = { type: 'app', app: 'rss', methods: { told() { return 'base'; } }, propDefinitions: {
      item: { type: 'string', label: 'Item', async options({ inner, outer }) { return [this.told(), inner, outer]; } } } };
    const middle = { type: 'app', app: 'rss', methods: { told() { return 'middle'; } }, propDefinitions: {
      item: { propDefinition: [base, 'item', () => ({ inner: 'i', outer: 'of inner' })], description: 'Of the middle' } } };
    const outer = { type: 'app', app: 'rss', propDefinitions: { item: { propDefinition: [middle, 'item'] } } };
    const ring = { type: 'app', app: 'rss', propDefinitions: {} };
    ring.propDefinitions.item = { propDefinition: [ring, 'item'] };`;
  const save = (prop: string) => hw.api('POST', '/components', { component_code: source(`p: ${prop}`, APPS) });

  test.each([
    [`[base, 'itm']`, `The app rss has no propDefinitions.itm: did you mean item?`],
    [`[base, 'nothing']`, `The app rss has no propDefinitions.nothing: did you mean item?`],
    [`[undefined, 'item']`, `The app has no propDefinitions.item: there are none`],
    [`[{ type: 'app', app: 'rss' }, 'item']`, `The app rss has no propDefinitions.item: there are none`],
    [
      `[{ app: 'x', propDefinitions: { a: { propDefinition: [base, 'b'] } } }, 'a']`,
      expect.stringMatching(/has no propDefinitions\.b/),
    ],
    [`[ring, 'item']`, expect.stringMatching(/must not lead back to itself/)],
    [`[base]`, 'must be [app, name, inputValues]: an app, and the name of a prop of it'],
    [`'item'`, 'must be [app, name, inputValues]: an app, and the name of a prop of it'],
  ])('to %s names nothing, and the component is not saved', async (taken, message) => {
    for (const type of ['', `type: 'string', `]) {
      const { status, text } = await save(`{ ${type}propDefinition: ${taken} }`);
      const { errors } = JSON.parse(text) as { errors: object[] };
      const told: unknown = message;
      expect([status, errors]).toEqual([400, [{ path: 'props.p.propDefinition', message: told }]]);
    }
  });

  test('through other apps is followed, with the app that has the options, and the values of all', async () => {
    const { data } = await save(`{ propDefinition: [outer, 'item', { outer: 'o' }], label: 'Own' }`);
    expect(data.configurable_props[0]).toMatchObject({
      type: 'string',
      label: 'Own',
      description: 'Of the middle',
      options: true,
    });
    const answer = await hw.api('POST', `/components/${data.id}/configure`, { prop_name: 'p' });
    expect(answer.data.options.map(({ value }: { value: unknown }) => value)).toEqual(['base', 'i', 'o']);
  });
});

test('a wrong value of a prop that reloads the others does not hide missing ones', async () => {
  const code = `export default { name: 'R', version: '1', props: {
    kind: { type: 'string', reloadProps: true }, needed: 'string' },
    additionalProps() { return { more: { type: 'string' } }; }, run() {} };`;
  const { errors } = await deploy(code, { kind: 7 });
  expect(errors.toSorted()).toEqual([
    'configured_props.kind Expected a string, got a number',
    'configured_props.needed A value is required',
  ]);
  const full = await deploy(code, { kind: 'a', needed: 'x', more: 'y', mor: 'z' });
  expect(full.errors).toEqual(['configured_props.mor There is no such prop: did you mean more?']);
  expect((await deploy(code, { kind: 'a', needed: 'x', more: 'y' })).errors).toEqual([]);
});

test('an unknown prop of a step is refused with its place, in new and in changed workflows', async () => {
  const step = (props: object) => ({ namespace: 'a', component_key: 'filter-continue-if', props });
  const refusal = async (method: 'POST' | 'PUT', path: string, props: object) => {
    const { status, text } = await hw.api(method, path, { triggers: [{ type: 'http' }], steps: [step(props)] });
    return [status, (JSON.parse(text) as { errors: object[] }).errors];
  };
  const told = [
    400,
    [
      {
        path: 'steps.0.props.operator',
        message: 'Step a: There is no such prop: did you mean one of value, condition, other, reason?',
      },
      { path: 'steps.0.props.conditon', message: 'Step a: There is no such prop: did you mean condition?' },
    ],
  ];
  const wrong = { value: 1, operator: 'is', conditon: 'equals' };
  expect(await refusal('POST', '/workflows', wrong)).toEqual(told);
  const made = await hw.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps: [step({ value: 1 })] });
  expect(await refusal('PUT', `/workflows/${made.data.id}`, wrong)).toEqual(told);
  const own = { namespace: 'a', component_code: action('return 1;'), props: { nothing: 1 } };
  const { text } = await hw.api('POST', '/workflows', { steps: [own] });
  expect((JSON.parse(text) as { errors: object[] }).errors).toEqual([
    { path: 'steps.0.props.nothing', message: 'Step a: There is no such prop: there are none' },
  ]);
});
