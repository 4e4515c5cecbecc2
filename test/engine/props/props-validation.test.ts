import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** A source whose event shows its props. */
const showing = (props: string) => `export default {
  name: 'Props', version: '1', props: { ${props} },
  run() { const own = {}; for (const [name, value] of Object.entries(this)) if (typeof value !== 'function') own[name] = value; this.$emit(own); },
};`;

interface Problem {
  detail: string;
  errors: { path: string; message: string }[];
}

async function refusalOf(props: string, values: object): Promise<Record<string, string>> {
  const { status, text } = await hw.api('POST', '/sources', {
    component_code: showing(props),
    configured_props: values,
  });
  if (status !== 400) throw new Error(`It was answered with ${status}: ${text}`);
  const { errors } = JSON.parse(text) as Problem;
  return Object.fromEntries(errors.map(({ path, message }) => [path.replace('configured_props.', ''), message]));
}

/** Values of the props in the component. */
async function valuesOf(props: string, values: object): Promise<Record<string, unknown>> {
  const { id } = await hw.deploy(showing(props), values as Record<string, unknown>);
  await hw.api('POST', `/sources/${id}/run`);
  const [event] = await hw.untilEvents(id, 1);
  return event?.event as Record<string, unknown>;
}

test('props: each type takes its values, alone and as an array', async () => {
  const props = `s: { type: 'string' }, i: { type: 'integer' }, n: { type: 'number' }, b: { type: 'boolean' }, o: { type: 'object' },
    a: { type: 'any' }, ss: { type: 'string[]' }, ii: { type: 'integer[]' }, bb: { type: 'boolean[]' }, q: { type: 'sql' }`;
  const values = {
    s: '',
    i: -3,
    n: 0.5,
    b: false,
    o: { a: null },
    a: [1, 'x'],
    ss: [],
    ii: [1, 2],
    bb: [true],
    q: { app: 'postgresql', query: 'select 1' },
  };
  expect(await valuesOf(props, values)).toMatchObject(values);
});

test('props: every wrong prop is listed at once, with its mistake', async () => {
  const props = `s: 'string', i: 'integer', n: { type: 'number' }, b: { type: 'boolean' }, o: { type: 'object' }, text: { type: 'object' },
    ss: { type: 'string[]' }, ii: { type: 'integer[]' }, low: { type: 'integer', min: 1 }, high: { type: 'integer', max: 9 },
    missing: { type: 'any' }, request: { type: 'http_request' }, timer: '$.interface.timer', store: 'data_store', rss: { type: 'app', app: 'rss' },
    right: 'string'`;
  const refused = await refusalOf(props, {
    s: 7,
    i: 1.5,
    n: '1',
    b: 'true',
    o: [],
    text: '{"a":1}',
    ss: 'a',
    ii: [1, '2'],
    low: 0,
    high: 10,
    request: 'GET /',
    timer: { intervalSeconds: 0 },
    store: 'sc_1',
    rss: 'apn_1',
    right: 'yes',
  });
  expect(refused).toEqual({
    s: 'Expected a string, got a number',
    i: 'Expected an integer, got a number',
    n: 'Expected a number, got a string',
    b: 'Expected true or false, got a string',
    o: 'Expected an object, got an array',
    text: 'Expected an object, got a string; JSON in a string is not taken for one',
    ss: 'Expected an array of string, got a string',
    ii: 'Item 1: Expected an integer, got a string',
    low: 'Must be at least 1',
    high: 'Must be at most 9',
    missing: 'A value is required',
    request: expect.stringContaining('Expected an object'),
    timer: 'intervalSeconds must be at least 1',
    store: expect.stringContaining('id of a data store'),
    rss: expect.stringContaining('authProvisionId'),
  });
});

test('props: min and max hold for integers, both bounds included', async () => {
  const props = `i: { type: 'integer', min: 1, max: 3 }, ii: { type: 'integer[]', min: 1, max: 3 }`;
  expect(await valuesOf(props, { i: 1, ii: [1, 3] })).toMatchObject({ i: 1, ii: [1, 3] });
  expect(await refusalOf(props, { i: 4, ii: [0] })).toEqual({
    i: 'Must be at most 3',
    ii: 'Item 0: Must be at least 1',
  });
});

test('props: a value has at most 64 KB, a text as it is, anything else as JSON', async () => {
  const fits = '"'.repeat(LIMITS.maxPropValueBytes);
  expect((await valuesOf(`s: 'string'`, { s: fits }))['s']).toBe(fits);
  const refused = await refusalOf(`s: 'string', o: { type: 'object' }`, {
    s: `${fits}x`,
    o: { a: 'é'.repeat(40_000) },
  });
  expect(Object.keys(refused)).toEqual(['s', 'o']);
  expect(refused['s']).toContain('65537 bytes');
  const { text } = await hw.api('POST', '/sources', {
    component_code: showing(`s: 'string'`),
    configured_props: { s: `${fits}x` },
  });
  const value = LIMITS.maxPropValueBytes;
  expect(JSON.parse(text)).toMatchObject({ limit: { name: 'maxPropValueBytes', value, used: value + 1 } });
});

test('props: optional may be left out, default fills in, also for a prop that is not optional', async () => {
  const props = `a: { type: 'string', optional: true }, b: { type: 'string', optional: true, default: 'filled' },
    c: { type: 'integer', default: 5 }, d: { type: 'string[]', default: ['x'] }, e: { type: 'string', default: 'own' }`;
  const seen = await valuesOf(props, { e: 'given', d: null });
  expect(seen).toMatchObject({ b: 'filled', c: 5, d: ['x'], e: 'given' });
  expect(seen).not.toHaveProperty('a');
  expect(await refusalOf(`a: { type: 'integer', default: 'five' }`, {})).toEqual({
    a: 'Expected an integer, got a string',
  });
});

test('props: a hidden, disabled or read-only prop is not required, and is checked if it is given', async () => {
  const props = `h: { type: 'string', hidden: true }, d: { type: 'integer', disabled: true }, dir: { type: 'dir', accessMode: 'read' },
    note: { type: 'alert', alertType: 'info', content: 'Hello' }, used: { type: 'string', hidden: true }`;
  const seen = await valuesOf(props, { used: 'x', note: 'ignored', dir: '/tmp' });
  expect(seen).toMatchObject({ used: 'x' });
  expect(Object.keys(seen)).not.toContain('note');
  expect(await refusalOf(props, { d: 'x' })).toEqual({ d: 'Expected an integer, got a string' });
});

test('props: static options are suggestions: other values of the type are taken', async () => {
  const props = `s: { type: 'string', options: ['a', 'b'] }, i: { type: 'integer', options: [{ label: 'One', value: 1 }] }`;
  expect(await valuesOf(props, { s: 'c', i: 2 })).toMatchObject({ s: 'c', i: 2 });
});

test('props: a chosen option may come with its label, which only withLabel passes on', async () => {
  const chosen = { __lv: { label: 'One', value: '1' } };
  const props = `s: { type: 'string' }, ss: { type: 'string[]' }, tt: { type: 'string[]' }, w: { type: 'string', withLabel: true }`;
  const values = { s: chosen, ss: [chosen, '2'], tt: { __lv: [{ label: 'A', value: 'a' }] }, w: chosen };
  expect(await valuesOf(props, values)).toMatchObject({
    s: '1',
    ss: ['1', '2'],
    tt: ['a'],
    w: { label: 'One', value: '1' },
  });
  expect(
    await refusalOf(props, { ...values, s: { __lv: { label: 'One', value: 1 } }, w: { __lv: { value: 1 } } }),
  ).toEqual({
    s: 'Expected a string, got a number',
    w: 'Expected a string, got a number',
  });
});

test('props: a timer takes an interval or cron, its own or the default, and nothing else', async () => {
  const code = (prop: string) => showing(`timer: ${prop}`);
  const shown = async (prop: string, values: object) => {
    const { data } = await hw.api('POST', '/sources', { component_code: code(prop), configured_props: values });
    return data.configured_props.timer;
  };
  const withDefault = `{ type: '$.interface.timer', default: { intervalSeconds: 900 } }`;
  expect(await shown(withDefault, {})).toEqual({ cron: null, interval_seconds: 900 });
  expect(await shown(withDefault, { timer: { cron: '0 9 * * 1', timezone: 'Europe/Paris' } })).toEqual({
    cron: '0 9 * * 1',
    interval_seconds: null,
    timezone: 'Europe/Paris',
  });
  const bare = `{ type: '$.interface.timer' }`;
  expect(await refusalOf(`timer: ${bare}`, {})).toEqual({ timer: 'A value is required' });
  for (const wrong of [{}, 60, { cron: 'often' }, { cron: '* * * * *', timezone: 'Mars' }, { intervalSeconds: 1.5 }])
    expect(Object.keys(await refusalOf(`timer: ${bare}`, { timer: wrong }))).toEqual(['timer']);
});

test('props: an app prop needs a connected account of this account and of its app', async () => {
  const none = `rss: { type: 'app', app: 'rss' }`;
  expect(await hw.deploy(showing(none))).toMatchObject({ id: expect.stringMatching(/^dc_/) });
  const keyed = `github: { type: 'app', app: 'github' }`;
  expect((await refusalOf(keyed, {}))['github']).toContain('A connected account of GitHub is required');
  expect(await hw.deploy(showing(`github: { type: 'app', app: 'github', optional: true }`))).toBeDefined();
  for (const authProvisionId of ['apn_none', 'ds_1', 7, null, 'apn_\u0001'])
    expect(Object.keys(await refusalOf(keyed, { github: { authProvisionId } }))).toEqual(['github']);
  expect((await refusalOf(`x: { type: 'app', app: 'no_such_app' }`, {}))['x']).toContain('not in the catalogue');
});

test('props: a name that no prop has is refused with the nearest, beside all else that is wrong; null is not', async () => {
  const props = `operation: 'string', count: 'integer', needed: 'string'`;
  expect(await refusalOf(props, { operaton: 'x', count: 'many', else: 1 })).toEqual({
    operaton: 'There is no such prop: did you mean operation?',
    else: 'There is no such prop: did you mean one of operation, count, needed?',
    count: 'Expected an integer, got a string',
    operation: 'A value is required',
    needed: 'A value is required',
  });
  const gone = { operation: 'x', count: 1, needed: 'y', former: null };
  expect(await hw.deploy(showing(props), gone)).toBeDefined();
});

test('props: names like those of Object.prototype are props like any other', async () => {
  const refused = await refusalOf(`toString: { type: 'string' }, hasOwnProperty: { type: 'integer' }`, {});
  expect(Object.keys(refused).toSorted()).toEqual(['hasOwnProperty', 'toString']);
});

test.each([['v1.x'], [['v2.0123456789ab.x']], [{ a: 1 }], [1.5], [null]])(
  'props: a sealed value with any content is refused, since only the server may make one: %j',
  async ($sealed) => {
    expect(await refusalOf(`s: { type: 'object' }`, { s: { $sealed } })).toEqual({ s: 'The key $sealed is reserved' });
    expect(await refusalOf(`s: { type: 'object', default: ${JSON.stringify({ $sealed })} }`, {})).toEqual({
      s: 'The key $sealed is reserved',
    });
    const code = `export default { name: 'Step', version: '1', type: 'action', props: { s: { type: 'object' } }, run() {} };`;
    const steps = [{ namespace: 'a', component_code: code, configured_props: { s: { $sealed } } }];
    const refused = await hw.api('POST', '/workflows', { name: 'Sealed', steps });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('The key $sealed is reserved')]);
  },
);
