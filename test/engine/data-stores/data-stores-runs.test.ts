import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** Does what the request says with its store, in order, and answers what came of each. */
const CALLER = `export default {
  name: 'Caller', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true }, store: { type: 'data_store' } },
  async run({ body }) {
    const results = [];
    for (const [op, ...args] of body.calls) {
      try { results.push((await this.store[op](...args)) ?? null); }
      catch (error) { results.push({ name: error.name, message: error.message, limit: error.limit?.name }); }
    }
    this.http.respond({ status: 200, body: { results } });
    if (body.fail) throw new Error('after all');
  },
};`;

async function makeStore(): Promise<string> {
  return (await hw.api('POST', '/data_stores', { name: 'Shared' })).data.id as string;
}

async function call(source: DeployedSource, calls: unknown[][], more: object = {}): Promise<unknown[]> {
  const response = await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ calls, ...more }),
  });
  return ((await response.json()) as { results: unknown[] }).results;
}

test('props: data_store: a value that one source writes is read by another and the API at once', async () => {
  const store = await makeStore();
  const writer = await hw.deploy(CALLER, { store });
  const reader = await hw.deploy(CALLER, { store: { id: store } });
  await call(writer, [['set', 'order', { id: 1 }]]);
  expect(
    await call(reader, [['get', 'order'], ['has', 'order'], ['has', 'other'], ['get', 'other'], ['keys']]),
  ).toEqual([{ id: 1 }, true, false, null, ['order']]);
  expect((await hw.api('GET', `/data_stores/${store}/record`, { key: 'order' })).data.value).toEqual({ id: 1 });
  const { data } = await hw.api('GET', `/sources/${writer.id}`);
  expect(data.configured_props.store).toBe(store);
});

test('props: data_store: a write stays although its run fails', async () => {
  const source = await hw.deploy(CALLER, { store: await makeStore() });
  await call(source, [['set', 'kept', true]], { fail: true });
  await hw.untilIdle();
  expect((await hw.api('GET', `/sources/${source.id}/runs`)).data[0].error.message).toBe('after all');
  expect(await call(source, [['get', 'kept']])).toEqual([true]);
});

test('props: data_store: delete, clear, entries and a time to live', async () => {
  const source = await hw.deploy(CALLER, { store: await makeStore() });
  const calls = [
    ['set', 'a', 1],
    ['set', 'b', [2]],
    ['set', 'gone', 3, { ttl: 1 }],
    ['entries'],
    ['delete', 'a'],
    ['delete', 'a'],
    ['keys'],
  ];
  expect((await call(source, calls)).slice(3)).toEqual([
    [
      ['a', 1],
      ['b', [2]],
      ['gone', 3],
    ],
    true,
    false,
    ['b', 'gone'],
  ]);
  await expect.poll(() => call(source, [['keys']])).toEqual([['b']]);
  expect(await call(source, [['clear'], ['keys']])).toEqual([null, []]);
});

test('props: data_store: lists longer than one page are whole and in the order of their keys', async () => {
  const filling = `for (let i = 0; i < (body.fill ?? 0); i += 1) this.store.set('k' + String(i).padStart(5, '0'), 'x'.repeat(1_000));`;
  const source = await hw.deploy(CALLER.replace('const results = [];', `${filling} const results = [];`), {
    store: await makeStore(),
  });
  await call(source, [['has', 'k']], { fill: 1_200 });
  const [keys, entries] = (await call(source, [['keys'], ['entries']])) as [string[], [string, string][]];
  expect(keys).toHaveLength(1_200);
  expect(keys).toEqual(keys.toSorted());
  expect(entries.map(([key]) => key)).toEqual(keys);
});

test('props: data_store: going over a limit throws at the line of the call, and names the limit', async () => {
  const source = await hw.deploy(CALLER, { store: await makeStore() });
  await hw.limit({
    maxDataStoreRecords: 1,
    maxDataStoreBytes: 65_536,
    maxDataStoreValueBytes: 50_000,
    maxDataStoreCallsPerRun: 10,
  });
  try {
    const results = (await call(source, [
      ['set', 'a', 1],
      ['set', 'b', 1],
      ['set', 'a', 'x'.repeat(50_000)],
      ['get', 'a'],
    ])) as { name?: string; limit?: string }[];
    expect(results.map((result) => result?.limit ?? result)).toEqual([
      null,
      'maxDataStoreRecords',
      'maxDataStoreValueBytes',
      1,
    ]);
    expect(results[1]?.name).toBe('LimitError');
    const many = (await call(
      source,
      Array.from({ length: 11 }, () => ['get', 'a']),
    )) as { limit?: string }[];
    expect(many.at(-2)).toBe(1);
    expect(many.at(-1)?.limit).toBe('maxDataStoreCallsPerRun');
  } finally {
    await hw.limit({
      maxDataStoreRecords: null,
      maxDataStoreBytes: null,
      maxDataStoreValueBytes: null,
      maxDataStoreCallsPerRun: null,
    });
  }
});

test('props: data_store: a store that was deleted is said to be gone', async () => {
  const store = await makeStore();
  const source = await hw.deploy(CALLER, { store });
  await hw.api('DELETE', `/data_stores/${store}`);
  const results = (await call(source, [['get', 'a'], ['set', 'a', 1], ['keys']])) as { message: string }[];
  for (const result of results) expect(result.message).toContain(store);
});

test('props: data_store: the store must be one of the account, and a prop without one is undefined', async () => {
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  const theirs = await hw.as(made.data.api_key as string)('POST', '/data_stores', { name: 'Theirs' });
  for (const store of [theirs.data.id, 'ds_none', 'ds_\u0001', 7, {}, { id: 'dc_1' }]) {
    const { status, text } = await hw.api('POST', '/sources', {
      component_code: CALLER,
      configured_props: { store },
    });
    expect(status).toBe(400);
    expect(JSON.parse(text).errors[0].path).toBe('configured_props.store');
  }
  const optional = CALLER.replace("{ type: 'data_store' }", "{ type: 'data_store', optional: true }").replace(
    'const results = [];',
    'const results = [typeof this.store];',
  );
  expect(await call(await hw.deploy(optional), [])).toEqual(['undefined']);
});
