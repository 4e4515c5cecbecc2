import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { asSource, readStarter } from '../support/starter.ts';

let hw: Headwater;
let target: Receiver;
let storeId: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());
beforeEach(async () => {
  target = await startReceiver();
  storeId = (await hw.api('POST', '/data_stores', { name: 'Of the test' })).data.id;
});
afterEach(() => target.stop());

/** Runs the action once, and returns its result or its error. */
async function run(name: string, props: Record<string, unknown>) {
  const { id } = await hw.deploy(asSource(await readStarter(name)), props);
  await hw.api('POST', `/sources/${id}/run`);
  return (await hw.untilEvents(id, 1))[0]?.event;
}

const inStore = (name: string, props: Record<string, unknown> = {}) => run(name, { dataStore: storeId, ...props });

test('HTTP request: sends the configured request and returns its answer', async () => {
  target.answer = () => ({
    status: 201,
    headers: { 'content-type': 'application/json', 'x-a': 'b' },
    body: '{"ok":true}',
  });
  const { result, summary } = await run('http-send-request', {
    url: `${target.url}/path?a=1`,
    method: 'POST',
    query: { b: ['2', '3'] },
    headers: { 'x-one': '1' },
    body: { n: 1 },
    bearerToken: 'a-token-of-some-length',
  });
  expect(result).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: { ok: true } });
  expect(summary).toContain('status 201');
  const [request] = target.requests;
  expect(request).toMatchObject({ method: 'POST', url: '/path?a=1&b=2&b=3', body: '{"n":1}' });
  expect(request?.headers).toMatchObject({
    'x-one': '1',
    'content-type': 'application/json',
    authorization: 'Bearer a-token-of-some-length',
  });
});

test('HTTP request: a status of 400 or more fails the step, unless it is not to', async () => {
  target.answer = () => ({ status: 404, body: 'nothing here' });
  const { error } = await run('http-send-request', { url: target.url });
  expect(error).toMatch(/answered with status 404: nothing here/);
  const { result } = await run('http-send-request', { url: target.url, failOnError: false });
  expect(result).toMatchObject({ status: 404, body: 'nothing here' });
});

test('filter: goes on where the condition holds and ends where it does not', async () => {
  const cases: [Record<string, unknown>, boolean][] = [
    [{ value: 'a', condition: 'equals', other: 'a' }, true],
    [{ value: 1, condition: 'not-equals', other: '1' }, false],
    [{ value: ['a', 'b'], condition: 'contains', other: 'b' }, true],
    [{ value: 'abc', condition: 'not-contains', other: 'b' }, false],
    [{ value: '10', condition: 'greater', other: '9' }, true],
    [{ value: '2026-01-02', condition: 'less', other: '2026-01-03' }, true],
    [{ value: 'word', condition: 'greater', other: '1' }, false],
    [{ value: 'ab-12', condition: 'matches', other: '^ab-\\d+$' }, true],
    [{ value: {}, condition: 'empty' }, true],
    [{ value: 0, condition: 'not-empty' }, true],
  ];
  for (const [props, holds] of cases) {
    const { result, exit, error } = await run('filter-continue-if', props);
    expect([props, error, holds ? result : exit !== undefined]).toEqual([props, undefined, true]);
  }
  expect((await run('filter-continue-if', { value: 'a', other: 'b', reason: 'Not today' })).exit).toBe('Not today');
});

test('delay: asks for the time that is configured, and for no more than a year', async () => {
  expect((await run('delay-wait', { duration: 2, unit: 'hours' })).delayMs).toBe(7_200_000);
  expect((await run('delay-wait', { duration: 3 })).delayMs).toBe(180_000);
  expect((await run('delay-wait', { duration: 366, unit: 'days' })).error).toContain('365 days');
});

test('data store: set, get, has, list and delete work on one store', async () => {
  expect((await inStore('data_store-set-value', { key: 'a', value: { n: 1 } })).result).toMatchObject({ wasSet: true });
  expect((await inStore('data_store-set-value', { key: 'a', value: 2, onlyNew: true })).result).toEqual({
    key: 'a',
    value: { n: 1 },
    wasSet: false,
  });
  expect((await inStore('data_store-get-value', { key: 'a' })).result).toEqual({ n: 1 });
  expect((await inStore('data_store-get-value', { key: 'b', fallback: 'none' })).result).toBe('none');
  expect((await inStore('data_store-has-record', { key: 'c', addIfMissing: true })).result).toBe(false);
  expect((await inStore('data_store-has-record', { key: 'c', exitIfThere: true })).exit).toContain('is there already');
  expect((await inStore('data_store-list-records')).result).toEqual([
    { key: 'a', value: { n: 1 } },
    { key: 'c', value: true },
  ]);
  expect((await inStore('data_store-list-records', { keysOnly: true, prefix: 'c' })).result).toEqual(['c']);
  expect((await inStore('data_store-list-records', { limit: 1 })).result).toHaveLength(1);
  expect((await inStore('data_store-delete-record', { key: 'a' })).result).toEqual({ deleted: true });
  expect((await inStore('data_store-delete-record', { key: 'a' })).result).toEqual({ deleted: false });
  expect((await inStore('data_store-delete-record')).error).toContain('Give a key');
  expect((await inStore('data_store-delete-record', { deleteAll: true })).result).toEqual({ deleted: true });
  expect((await inStore('data_store-list-records')).result).toEqual([]);
});

test('data store: a record with a lifetime has one', async () => {
  await inStore('data_store-set-value', { key: 'short', value: 1, ttlSeconds: 3600 });
  const { data } = await hw.api('GET', `/data_stores/${storeId}/record`, { key: 'short' });
  expect(data.expires_at).not.toBeNull();
});

test('data store: increment counts from 0, by any number, and refuses other values', async () => {
  expect((await inStore('data_store-increment-value', { key: 'n' })).result).toEqual({ key: 'n', value: 1 });
  expect((await inStore('data_store-increment-value', { key: 'n', amount: '-2.5' })).result.value).toBe(-1.5);
  await inStore('data_store-set-value', { key: 'n', value: 'text' });
  expect((await inStore('data_store-increment-value', { key: 'n' })).error).toContain('is not a number');
  expect((await inStore('data_store-increment-value', { key: 'm', amount: 'much' })).error).toContain('much');
});
