import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

async function makeStore(name = 'Store'): Promise<string> {
  const { data } = await hw.api('POST', '/data_stores', { name });
  return data.id as string;
}

const put = (id: string, key: string, value: unknown, more: object = {}) =>
  hw.api('PUT', `/data_stores/${id}/record`, { key, value, ...more });
const get = (id: string, key: string) => hw.api('GET', `/data_stores/${id}/record`, { key });
const problemOf = (text: string) =>
  JSON.parse(text) as { errors?: { path: string; message: string }[]; limit?: { name: string; value: number } };

test('a store is made, found, listed, renamed and deleted with its records', async () => {
  const made = await hw.api('POST', '/data_stores', { name: 'Orders', description: 'By id' });
  expect(made.data).toMatchObject({ name: 'Orders', description: 'By id', record_count: 0, bytes: 0 });
  const { id } = made.data as { id: string };
  expect(id).toMatch(/^ds_/);
  await put(id, 'a', 1);
  const renamed = await hw.api('PUT', `/data_stores/${id}`, { name: 'All orders', description: '' });
  expect(renamed.data).toMatchObject({ id, name: 'All orders', description: null, record_count: 1, bytes: 66 });
  const listed = await hw.api('GET', '/data_stores');
  expect(listed.data.map((store: { id: string }) => store.id)).toContain(id);
  expect((await hw.api('DELETE', `/data_stores/${id}`)).status).toBe(204);
  expect((await hw.api('GET', `/data_stores/${id}`)).status).toBe(404);
  expect((await get(id, 'a')).status).toBe(404);
});

test('a record holds any JSON value under any key', async () => {
  const id = await makeStore();
  for (const [key, value] of [
    ['..', null],
    ['a/b?c=d', [1, { deep: [true] }]],
    ['ключ 🔑', 'wert\u0000'],
    ['%_\\', 0.1],
  ] as const) {
    expect((await put(id, key, value)).data).toMatchObject({ key, value, expires_at: null });
    expect((await get(id, key)).data).toMatchObject({ key, value });
  }
  expect((await hw.api('DELETE', `/data_stores/${id}/record?key=..`)).status).toBe(204);
  expect((await get(id, '..')).status).toBe(404);
  expect((await hw.api('DELETE', `/data_stores/${id}/record?key=..`)).status).toBe(404);
});

test('records are listed by key, in pages and by prefix', async () => {
  const id = await makeStore();
  for (const key of ['b', 'a_2', 'a%1', 'a_1', 'B', 'é']) await put(id, key, key);
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { text } = await hw.api('GET', `/data_stores/${id}/records`, {
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    const page = JSON.parse(text) as {
      data: { key: string }[];
      page_info: { end_cursor: string | null; total_count: number };
    };
    expect(page.page_info.total_count).toBe(6);
    seen.push(...page.data.map(({ key }) => key));
    after = page.page_info.end_cursor ?? undefined;
  } while (after !== undefined);
  expect(seen).toEqual(['B', 'a%1', 'a_1', 'a_2', 'b', 'é']);
  const { data } = await hw.api('GET', `/data_stores/${id}/records`, { prefix: 'a_' });
  expect(data.map((record: { key: string }) => record.key)).toEqual(['a_1', 'a_2']);
});

test('a page of large records ends early, and the next one goes on', async () => {
  const id = await makeStore();
  const value = 'é'.repeat(LIMITS.maxPageBytes / 8);
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const key of keys) expect((await put(id, key, value)).status).toBe(200);
  const pages: string[][] = [];
  for (let after: string | undefined; ; ) {
    const answer = await fetch(`${hw.url}/v1/data_stores/${id}/records?limit=100${after ? `&after=${after}` : ''}`, {
      headers: { authorization: `Bearer ${hw.apiKey}`, 'accept-encoding': 'identity' },
    });
    const text = await answer.text();
    expect(Number(answer.headers.get('content-length'))).toBe(Buffer.byteLength(text));
    const page = JSON.parse(text) as {
      data: { key: string; value: string }[];
      page_info: { end_cursor: string | null };
    };
    expect(page.data.every((record) => record.value === value)).toBe(true);
    pages.push(page.data.map(({ key }) => key));
    if (page.page_info.end_cursor === null) break;
    after = page.page_info.end_cursor;
  }
  expect(pages).toEqual([keys.slice(0, 3), keys.slice(3, 6), keys.slice(6), []]);
});

test('values of megabytes of lists are answered as they are, without being read', async () => {
  const id = await makeStore();
  const lists = 1_000_000;
  await hw.limit({ maxDataStoreValueBytes: 4_000_000 });
  const { id: source } = await hw.deploy(
    `export default { name: 'Lists', version: '1', props: { store: { type: 'data_store' } },
      async run() { for (const key of ['a', 'b']) await this.store.set(key, Array.from({ length: ${lists} }, () => [])); } };`,
    { store: id },
  );
  await hw.api('POST', `/sources/${source}/run`, {});
  await eventually(async () => (await hw.api('GET', `/data_stores/${id}`)).data.record_count === 2);
  const value = `[${'[],'.repeat(lists - 1)}[]]`;
  const headers = { authorization: `Bearer ${hw.apiKey}` };
  for (const path of ['record?key=a', 'records']) {
    let text = '';
    const longest = await longestTurnMs(async () => {
      text = await (await fetch(`${hw.url}/v1/data_stores/${id}/${path}`, { headers })).text();
    });
    expect(text.includes(`"value":${value},`)).toBe(true);
    expect(longest / slowness()).toBeLessThan(80);
  }
  await hw.limit({ maxDataStoreValueBytes: null });
});

test('a record with a ttl is gone when its time is over, and one set anew without it stays', async () => {
  const id = await makeStore();
  await put(id, 'short', 1, { ttl: 0.2 });
  const { data } = await put(id, 'kept', 1, { ttl: 0.2 });
  expect(data.expires_at).toBeTypeOf('number');
  await put(id, 'kept', 2);
  await expect.poll(async () => (await get(id, 'short')).status).toBe(404);
  expect((await get(id, 'kept')).data).toMatchObject({ value: 2, expires_at: null });
  expect((await hw.api('GET', `/data_stores/${id}/records`)).data).toHaveLength(1);
});

test('a record that is over as soon as it is set is answered as it was set, and is not there', async () => {
  const id = await makeStore();
  const { status, data } = await put(id, 'short', 'é', { ttl: 1e-7 });
  expect([status, data]).toMatchObject([200, { key: 'short', value: 'é' }]);
  expect(Math.abs(data.expires_at * 1_000 - Date.now())).toBeLessThan(10_000);
  expect((await get(id, 'short')).status).toBe(404);
});

test('everything wrong with a record is told, with the parameter', async () => {
  const id = await makeStore();
  for (const [parameters, path] of [
    [{ key: '', value: 1 }, 'key'],
    [{ key: 'x'.repeat(LIMITS.maxDataStoreKeyBytes + 1), value: 1 }, 'key'],
    [{ key: 'é'.repeat(LIMITS.maxDataStoreKeyBytes), value: 1 }, 'key'],
    [{ key: 'a\u0000', value: 1 }, 'key'],
    [{ key: 'a' }, 'value'],
    [{ key: 'a', value: 1, ttl: 0 }, 'ttl'],
    [{ key: 'a', value: 1, ttl: LIMITS.maxDataStoreTtlSeconds + 1 }, 'ttl'],
  ] as const) {
    const { status, text } = await hw.api('PUT', `/data_stores/${id}/record`, parameters);
    expect(status).toBe(400);
    expect(problemOf(text).errors?.[0]?.path).toBe(path);
  }
  expect((await hw.api('GET', `/data_stores/${id}/records`, { after: '!' })).status).toBe(400);
});

test('limits of an account hold for its stores, and each refusal names its limit', async () => {
  const id = await makeStore();
  await hw.limit({
    maxDataStores: 1,
    maxDataStoreRecords: 2,
    maxDataStoreBytes: 65_536,
    maxDataStoreValueBytes: 40_000,
  });
  try {
    const another = await hw.api('POST', '/data_stores', { name: 'More' });
    expect([another.status, problemOf(another.text).limit?.name]).toEqual([409, 'maxDataStores']);
    await put(id, 'a', 'x'.repeat(39_000));
    const full = await put(id, 'b', 'x'.repeat(39_000));
    expect([full.status, problemOf(full.text).limit?.name]).toEqual([409, 'maxDataStoreBytes']);
    const large = await put(id, 'a', 'x'.repeat(40_000));
    expect([large.status, problemOf(large.text).limit?.name]).toEqual([413, 'maxDataStoreValueBytes']);
    await put(id, 'b', 1);
    const third = await put(id, 'c', 1);
    expect([third.status, problemOf(third.text).limit?.name]).toEqual([409, 'maxDataStoreRecords']);
    expect((await put(id, 'a', 'smaller')).status).toBe(200);
    expect((await hw.api('GET', `/data_stores/${id}`)).data).toMatchObject({ record_count: 2 });
  } finally {
    await hw.limit({
      maxDataStores: null,
      maxDataStoreRecords: null,
      maxDataStoreBytes: null,
      maxDataStoreValueBytes: null,
    });
  }
});

test('records that have expired make room for new ones', async () => {
  const id = await makeStore();
  await hw.limit({ maxDataStoreRecords: 2 });
  try {
    await put(id, 'a', 1, { ttl: 0.1 });
    await put(id, 'b', 1, { ttl: 60 });
    await expect.poll(async () => (await put(id, 'c', 1)).status).toBe(200);
    expect((await hw.api('GET', `/data_stores/${id}`)).data).toMatchObject({ record_count: 2, bytes: 2 * 66 });
  } finally {
    await hw.limit({ maxDataStoreRecords: null });
  }
});

test('the size of a store is exact after concurrent writes, overwrites and deletes', async () => {
  const id = await makeStore();
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      await put(id, `k${i % 8}`, 'x'.repeat(i));
      if (i % 5 === 0) await hw.api('DELETE', `/data_stores/${id}/record?key=k${i % 8}`);
    }),
  );
  const { data: records } = await hw.api('GET', `/data_stores/${id}/records`, { limit: 100 });
  const bytes = (records as { key: string; value: string }[]).reduce(
    (sum, { key, value }) => sum + key.length + JSON.stringify(value).length + 64,
    0,
  );
  expect((await hw.api('GET', `/data_stores/${id}`)).data).toMatchObject({ record_count: records.length, bytes });
  expect((await hw.api('DELETE', `/data_stores/${id}/records`)).status).toBe(204);
  expect((await hw.api('GET', `/data_stores/${id}`)).data).toMatchObject({ record_count: 0, bytes: 0 });
});

test('a store of another account is not there', async () => {
  const id = await makeStore();
  await put(id, 'secret', 'mine');
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  const other = hw.as(made.data.api_key as string);
  const answers = [
    await other('GET', `/data_stores/${id}`),
    await other('PUT', `/data_stores/${id}`, { name: 'Taken' }),
    await other('DELETE', `/data_stores/${id}`),
    await other('GET', `/data_stores/${id}/records`),
    await other('GET', `/data_stores/${id}/record`, { key: 'secret' }),
    await other('PUT', `/data_stores/${id}/record`, { key: 'secret', value: 'taken' }),
    await other('DELETE', `/data_stores/${id}/record`, { key: 'secret' }),
    await other('DELETE', `/data_stores/${id}/records`),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  expect((await other('GET', '/data_stores')).data).toEqual([]);
  expect((await get(id, 'secret')).data.value).toBe('mine');
});
