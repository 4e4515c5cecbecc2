import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const FORM = `
const rss = {
  type: 'app', app: 'rss',
  propDefinitions: {
    item: {
      type: 'string',
      async options({ page, prevContext, query, feed }) { return this.list({ page, prevContext, query, feed }); },
    },
  },
  methods: { list(args) { return [JSON.stringify(args)]; } },
};
export default {
  name: 'Form', version: '1',
  props: {
    rss,
    token: { type: 'string', secret: true },
    feed: { type: 'string', optional: true, default: 'main' },
    count: { type: 'integer', optional: true },
    db: '$.service.db',
    http: { type: '$.interface.http' },
    plain: { type: 'string', options: ['a', { label: 'B', value: 'b' }] },
    paged: { type: 'integer', async options({ page }) { return [page, page + 1]; } },
    tokened: {
      type: 'string',
      async options({ prevContext }) {
        const { nextPageToken } = prevContext ?? {};
        return { options: [{ label: 'After ' + nextPageToken, value: nextPageToken ?? 'first' }], context: { nextPageToken: 'p2' } };
      },
    },
    typed: { type: 'string', useQuery: true, async options({ query }) { return [query ?? 'nothing typed']; } },
    seen: {
      type: 'string',
      async options() {
        return [
          JSON.stringify({ feed: this.feed, token: this.token, count: this.count ?? null, made: this.make(2), endpoint: this.http.endpoint }),
          JSON.stringify({ stored: this.db.get('stored') ?? null }),
        ];
      },
    },
    item: { propDefinition: [rss, 'item', (c) => ({ feed: c.feed })] },
    failing: { type: 'string', async options() { console.log('asking with', this.token); throw new Error('401 for ' + this.token); } },
    refusing: {
      type: 'string',
      async options() { const error = new Error('Choose a feed first'); error.name = 'ConfigurationError'; throw error; },
    },
    emitting: { type: 'string', async options() { this.$emit({ a: 1 }); return []; } },
    silent: { type: 'string' },
    endless: { type: 'string', async options() { for (;;); } },
    large: { type: 'string', async options() { return ['x'.repeat(2 * 1024 * 1024)]; } },
  },
  methods: { make(n) { return n * 2; } },
  run(event) { this.db.set('stored', 'by a run'); this.$emit(event); },
};`;

let formId: string | undefined;

async function configure(propName: string, more: object = {}) {
  if (formId === undefined) {
    const saved = await hw.api('POST', '/components', { component_code: FORM });
    if (saved.status !== 200) throw new Error(saved.text);
    formId = saved.data.id as string;
  }
  return hw.api('POST', `/components/${formId}/configure`, { prop_name: propName, ...more });
}

const valuesOf = (data: { options: { value: unknown }[] }) => data.options.map(({ value }) => value);
const problemOf = (text: string) =>
  JSON.parse(text) as { type: string; detail: string; errors?: { path: string; message: string }[] };

test('props: options: strings, and objects of label and value, are answered as label and value', async () => {
  const { data } = await configure('plain');
  expect(data).toEqual({
    options: [
      { label: 'a', value: 'a' },
      { label: 'B', value: 'b' },
    ],
  });
});

test('props: async options: page is 0-indexed', async () => {
  expect((await configure('paged')).data.options).toEqual([
    { label: '0', value: 0 },
    { label: '1', value: 1 },
  ]);
  expect(valuesOf((await configure('paged', { page: 3 })).data)).toEqual([3, 4]);
  expect((await configure('paged', { page: -1 })).status).toBe(400);
});

test('props: async options: prevContext is the context of the previous answer', async () => {
  const first = await configure('tokened');
  expect(first.data).toMatchObject({ options: [{ value: 'first' }], context: { nextPageToken: 'p2' } });
  const second = await configure('tokened', { prev_context: first.data.context });
  expect(valuesOf(second.data)).toEqual(['p2']);
});

test('props: useQuery: options receive the typed text', async () => {
  expect(valuesOf((await configure('typed', { query: 'abc' })).data)).toEqual(['abc']);
  expect(valuesOf((await configure('typed')).data)).toEqual(['nothing typed']);
});

test('props: async options: this has values configured so far, defaults and methods', async () => {
  const { data } = await configure('seen', { configured_props: { count: 3 } });
  expect(JSON.parse(valuesOf(data)[0] as string)).toEqual({ feed: 'main', count: 3, made: 4, endpoint: '' });
  const other = await configure('seen', { configured_props: { feed: 'news' } });
  expect(JSON.parse(valuesOf(other.data)[0] as string)).toMatchObject({ feed: 'news' });
});

test('props: propDefinition: inputValues come from configured props, and this is the app', async () => {
  const { data, text } = await configure('item', { configured_props: { feed: 'news' }, page: 2 });
  expect({ text, args: JSON.parse(valuesOf(data)[0] as string) }).toMatchObject({ args: { page: 2, feed: 'news' } });
});

test('configure: with source_id the source’s values are used, secrets too, and never shown', async () => {
  await configure('plain');
  const made = await hw.api('POST', '/sources', {
    component_id: formId,
    configured_props: Object.fromEntries(
      [
        'token',
        'plain',
        'tokened',
        'typed',
        'seen',
        'item',
        'failing',
        'refusing',
        'emitting',
        'silent',
        'endless',
        'large',
      ]
        .map((name) => [name, name === 'token' ? 'a-long-token' : 'x'])
        .concat([['paged', 1 as never]]),
    ),
  });
  expect(made.text).toContain('dc_');
  const source = made.data as { id: string; configured_props: { http: { endpoint_url: string } } };
  await hw.api('POST', `/sources/${source.id}/run`);
  await hw.untilEvents(source.id, 1);
  const [text, stored] = valuesOf((await configure('seen', { source_id: source.id })).data) as [string, string];
  expect(JSON.parse(text)).toEqual({
    feed: 'main',
    token: '[secret:token]',
    count: null,
    made: 4,
    endpoint: source.configured_props.http.endpoint_url,
  });
  expect(JSON.parse(stored)).toEqual({ stored: 'by a run' });
  const removed = await configure('seen', { source_id: source.id, configured_props: { token: null } });
  expect(JSON.parse(valuesOf(removed.data)[0] as string)).not.toHaveProperty('token');
});

test('configure: an unknown prop, a prop without options and wrong values are told as such', async () => {
  const unknown = await configure('nothing');
  expect([unknown.status, problemOf(unknown.text).errors?.[0]?.path]).toEqual([400, 'prop_name']);
  const without = await configure('silent');
  expect([without.status, problemOf(without.text).detail]).toEqual([400, 'The prop silent has no options']);
  const wrong = await configure('plain', { configured_props: { count: 'three', feed: 7, plain: 'any value' } });
  expect(wrong.status).toBe(400);
  expect(problemOf(wrong.text).errors?.map(({ path }) => path)).toEqual([
    'configured_props.feed',
    'configured_props.count',
  ]);
});

test('configure: an unknown prop is refused with the nearest, beside other mistakes, and null is not', async () => {
  const wrong = await configure('plain', { configured_props: { fed: 'main', count: 'three', plàin: 'a', none: null } });
  expect(wrong.status).toBe(400);
  expect(problemOf(wrong.text).errors).toEqual([
    { path: 'configured_props.fed', message: 'There is no such prop: did you mean feed?' },
    { path: 'configured_props.plàin', message: 'There is no such prop: did you mean plain?' },
    { path: 'configured_props.count', message: expect.stringContaining('integer') },
  ]);
});

test('configure: an error of the component is answered with its message and log, without secrets', async () => {
  const { status, text } = await configure('failing', { configured_props: { token: 'a-long-token' } });
  expect(status).toBe(422);
  expect(problemOf(text)).toMatchObject({
    detail: 'The options of the prop failing failed: 401 for [secret:token]',
    errors: [{ path: 'logs', message: 'asking with [secret:token]' }],
  });
});

test('errors: the message of a ConfigurationError reaches the user as it is', async () => {
  const { status, text } = await configure('refusing');
  expect(status).toBe(400);
  expect(problemOf(text)).toMatchObject({
    type: 'urn:headwater:error:configuration-error',
    detail: 'Choose a feed first',
  });
});

test('configure: options emit nothing', async () => {
  const { status, text } = await configure('emitting');
  expect(status).toBe(422);
  expect(problemOf(text).detail).toContain('emit');
});

test('configure: limits hold for options as for a hook', async () => {
  await hw.limit({ runCpuMs: 200 });
  try {
    const { status, text } = await configure('endless');
    expect([status, JSON.parse(text).limit?.name]).toEqual([422, 'runCpuMs']);
  } finally {
    await hw.limit({ runCpuMs: null });
  }
  expect((await configure('large')).status).toBe(422);
  expect((await configure('plain')).status).toBe(200);
});

test('configure: components, sources and dynamic props of another account are not there', async () => {
  await configure('plain');
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  const other = hw.as(made.data.api_key as string);
  expect((await other('POST', `/components/${formId}/configure`, { prop_name: 'plain' })).status).toBe(404);
  expect((await other('POST', `/components/${formId}/props`, {})).status).toBe(404);
  const theirs = await other('POST', '/components', { component_code: FORM });
  const source = await hw.deploy(`export default { name: 'x', version: '1', run() {} };`);
  const path = `/components/${theirs.data.id}/configure`;
  expect((await other('POST', path, { prop_name: 'plain', source_id: source.id })).status).toBe(404);
});
