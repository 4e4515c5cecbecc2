import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let server: Headwater;
let foreignKey: string;

beforeAll(async () => {
  server = await sharedHeadwater();
  foreignKey = (await server.admin('POST', '/accounts', { name: 'another' })).data.api_key;
});
afterAll(() => server.stop());

const SOURCE = `export default { name: 'Orders', version: '1', props: { http: '$.interface.http' }, run() {},
  hooks: { deactivate() { this.$emit('deactivated'); } } };`;
const STEP = `export default { name: 'Step', version: '1', type: 'action', run() {} };`;

const KINDS = {
  sources: { component_code: SOURCE, name: 'first' },
  webhooks: { url: 'https://example.com/hook', name: 'first' },
  workflows: { name: 'first', steps: [{ namespace: 'one', component_code: STEP }] },
};
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

async function make(kind: Kind): Promise<string> {
  const { data, text } = await server.api('POST', `/${kind}`, KINDS[kind]);
  if (data === undefined) throw new Error(text);
  return `/${kind}/${data.id}`;
}

interface Asked {
  match?: string;
  noneMatch?: string;
  body?: Record<string, unknown>;
  key?: string;
}

async function ask(
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  { match, noneMatch, body, key = server.apiKey }: Asked = {},
) {
  const response = await fetch(`${server.url}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(match === undefined ? {} : { 'if-match': match }),
      ...(noneMatch === undefined ? {} : { 'if-none-match': noneMatch }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { data, ...problem } = text === '' ? {} : JSON.parse(text);
  return { status: response.status, etag: response.headers.get('etag') ?? '', data, problem };
}

test.each(NAMES)(
  'a change of one of the %s that was made for an older state is refused, and nothing is written',
  async (kind) => {
    const path = await make(kind);
    const read = await ask('GET', path);
    expect(read.etag).toMatch(/^"\d+"$/);
    const mine = await ask('PUT', path, { match: read.etag, body: { name: 'mine' } });
    expect([mine.status, mine.data.name]).toEqual([200, 'mine']);
    expect(mine.etag).not.toBe(read.etag);
    for (const body of [{ name: 'theirs' }, { active: false }]) {
      const theirs = await ask('PUT', path, { match: read.etag, body });
      expect(theirs).toMatchObject({
        status: 412,
        problem: {
          type: 'urn:headwater:error:precondition-failed',
          detail: expect.stringContaining('changed meanwhile; nothing was written'),
        },
      });
    }
    expect((await ask('DELETE', path, { match: read.etag })).status).toBe(412);
    expect(await ask('GET', path)).toEqual({ ...mine, problem: {} });
    expect(await ask('PUT', path, { match: mine.etag, body: { active: false } })).toMatchObject({ status: 200 });
  },
);

test.each(NAMES)('two changes of one of the %s made for the same state: one is written', async (kind) => {
  const path = await make(kind);
  const { etag } = await ask('GET', path);
  const names = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all(names.map((name) => ask('PUT', path, { match: etag, body: { name } })));
  const done = answers.filter(({ status }) => status === 200);
  expect(done).toHaveLength(1);
  // A source that is being changed answers 409 as well.
  expect(answers.every(({ status }) => [200, 409, 412].includes(status))).toBe(true);
  expect((await ask('GET', path)).data.name).toBe(done[0]?.data.name);
});

test.each(NAMES)('a change of one of the %s without if-match, or with one that fits, is made as ever', async (kind) => {
  const path = await make(kind);
  expect((await ask('PUT', path, { body: { name: 'b' } })).status).toBe(200);
  expect((await ask('PUT', path, { match: '*', body: { name: 'c' } })).status).toBe(200);
  const { etag } = await ask('GET', path);
  expect((await ask('PUT', path, { match: `"0", ${etag}`, body: { name: 'd' } })).status).toBe(200);
  const { etag: now } = await ask('GET', path);
  expect((await ask('DELETE', path, { match: now })).status).toBe(204);
  expect((await ask('PUT', path, { match: now, body: { name: 'e' } })).status).toBe(404);
});

test.each(NAMES)('a malformed if-match is refused for the %s, and one that does not match is 412', async (kind) => {
  const path = await make(kind);
  const { etag } = await ask('GET', path);
  for (const match of [etag.replaceAll('"', ''), '"a', `${etag} ${etag}`, '"x",'])
    expect(await ask('PUT', path, { match, body: { name: 'x' } })).toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'if-match' }] },
    });
  for (const match of ['"x"', `W/${etag}`, '"00000000000000000000"', '""'])
    expect((await ask('PUT', path, { match, body: { name: 'x' } })).status).toBe(412);
  for (const method of ['PUT', 'DELETE'] as const)
    expect((await ask(method, path, { match: etag, key: foreignKey, body: {} })).status).toBe(404);
  expect((await ask('GET', path)).etag).toBe(etag);
});

test('a source whose change was refused goes on: its hooks did not run, and its endpoint answers', async () => {
  const { data } = await server.api('POST', '/sources', KINDS.sources);
  const path = `/sources/${data.id}`;
  const old = await ask('GET', path);
  await ask('PUT', path, { body: { name: 'other' } });
  expect((await ask('DELETE', path, { match: old.etag })).status).toBe(412);
  expect((await ask('PUT', path, { match: old.etag, body: { component_code: STEP } })).status).toBe(412);
  expect((await fetch(data.configured_props.http.endpoint_url)).status).toBe(200);
  expect((await server.api('GET', `${path}/event_summaries`)).data).toEqual([]);
});

const ADMIN_KEY = `hw_${'a'.repeat(32)}`;

/** A path whose content a tag tells, and changes of it. */
interface Tagged {
  path: string;
  changes: readonly [Record<string, unknown>, Record<string, unknown>];
  key?: string;
}

async function makeTagged(kind: string): Promise<Tagged> {
  if (kind === 'limits') {
    const { data } = await server.admin('POST', '/accounts', { name: 'limited' });
    const path = `/accounts/${data.id}/limits`;
    return { path, changes: [{ maxSources: 7 }, { maxSources: 8 }], key: ADMIN_KEY };
  }
  if (kind === 'subscription') {
    const [webhook, source] = [await make('webhooks'), await make('sources')].map((path) => path.split('/')[2]);
    const ends = { emitter_id: source, listener_id: webhook };
    const { data } = await server.api('POST', '/subscriptions', ends);
    return { path: `/subscriptions/${data.id}`, changes: [{ filter: { a: 1 } }, { filter: null }] };
  }
  const { data } = await server.api('POST', '/data_stores', { name: 'Stock' });
  await ask('PUT', `/data_stores/${data.id}/record`, { body: { key: 'weir', value: 0 } });
  const path = `/data_stores/${data.id}/record?key=weir`;
  return {
    path,
    changes: [
      { key: 'weir', value: 1 },
      { key: 'weir', value: 0, ttl: 3_600 },
    ],
  };
}

test.each(['limits', 'subscription', 'record'])(
  'concurrent changes of a %s made for one state: one is written, and the tag is that of its content',
  async (kind) => {
    const { path, changes, key } = await makeTagged(kind);
    const as = key === undefined ? {} : { key };
    const to = path.split('?')[0] ?? path;
    const read = await ask('GET', path, as);
    expect(read.etag).toMatch(/^"[\w-]{22}"$/);
    const answers = await Promise.all(
      [changes[0], changes[0], changes[0]].map((body) => ask('PUT', to, { ...as, body, match: read.etag })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 412, 412]);
    const now = await ask('GET', path, as);
    expect(now.etag).toBe(answers.find(({ status }) => status === 200)?.etag);
    expect(now.etag).not.toBe(read.etag);
    expect(await ask('PUT', to, { ...as, body: changes[1], match: read.etag })).toMatchObject({
      status: 412,
      problem: { detail: expect.stringContaining('changed meanwhile; nothing was written') },
    });
    expect((await ask('GET', path, as)).etag).toBe(now.etag);
    const again = await ask('PUT', to, { ...as, body: changes[1], match: `"x", ${now.etag}` });
    expect([again.status, again.etag === now.etag]).toEqual([200, false]);
    expect((await ask('PUT', to, { ...as, body: changes[0], match: `W/${again.etag}` })).status).toBe(412);
    expect((await ask('PUT', to, { ...as, body: changes[0] })).etag).toBe(now.etag);
  },
);

test('a record is made only where there is none, and deleted only as it was read', async () => {
  const { path } = await makeTagged('record');
  const to = path.split('?')[0] ?? path;
  const putNew = (noneMatch: string) => ask('PUT', to, { noneMatch, body: { key: 'ash', value: 1 } });
  const made = await Promise.all([putNew('*'), putNew('*'), putNew('*')]);
  expect(made.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 412, 412]);
  expect(await putNew('"x"')).toMatchObject({ status: 400, problem: { errors: [{ path: 'if-none-match' }] } });
  expect((await ask('PUT', to, { match: '*', body: { key: 'elm', value: 1 } })).status).toBe(412);
  const read = await ask('GET', path);
  await ask('PUT', to, { body: { key: 'weir', value: 2 } });
  expect((await ask('DELETE', path, { match: read.etag })).status).toBe(412);
  const { etag } = await ask('GET', path);
  expect((await ask('DELETE', path, { match: etag })).status).toBe(204);
  expect((await ask('DELETE', path, { match: etag })).status).toBe(412);
  expect((await ask('DELETE', path)).status).toBe(404);
});

test('a key for webhooks sees subscriptions of webhooks alone, and an account no other account', async () => {
  const { path } = await makeTagged('subscription');
  const emitter = (await make('sources')).split('/')[2];
  const listener = (await make('sources')).split('/')[2];
  const ends = { emitter_id: emitter, listener_id: listener };
  const { data: between } = await server.api('POST', '/subscriptions', ends);
  const { data: limited } = await server.api('POST', '/api_keys', { name: 'hooks', scopes: ['webhooks'] });
  expect((await ask('GET', path, { key: limited.api_key })).status).toBe(200);
  expect((await ask('GET', `/subscriptions/${between.id}`, { key: limited.api_key })).status).toBe(404);
  expect((await ask('GET', path, { key: foreignKey })).status).toBe(404);
});

test('a change that has no etag to compare with refuses if-match, and changes nothing', async () => {
  const store = (await server.api('POST', '/data_stores', { name: 'first' })).data;
  const path = `/data_stores/${store.id}`;
  const refused = await ask('PUT', path, { match: '"1"', body: { name: 'second' } });
  expect([refused.status, refused.problem.detail]).toEqual([400, expect.stringContaining('leave if-match out')]);
  expect((await ask('DELETE', path, { match: '"1"' })).status).toBe(400);
  expect((await server.api('GET', path)).data.name).toBe('first');
  expect((await ask('PUT', path, { match: '*', body: { name: 'second' } })).status).toBe(200);
});
