import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const ORDERS = { kind: 'source', key: 'orders', id: 'dc_1vZ8kQ0aB3xYpL9mWc2T', secrets: 'salt:hash' };

test('a held stack is changed only by its holder, and is free when it is released', async () => {
  const put = (body: Record<string, unknown>) => hw.api('PUT', '/stacks/held', body);
  const first = await put({ holder: 'ann', hold_seconds: 60 });
  expect(first).toMatchObject({ status: 200, data: { name: 'held', resources: [], held_until: expect.any(Number) } });
  expect(await put({ holder: 'bob', hold_seconds: 60 })).toMatchObject({ status: 409 });
  expect(await put({ holder: 'ann', hold_seconds: 60, resources: [ORDERS] })).toMatchObject({
    data: { resources: [ORDERS] },
  });
  expect(await put({ holder: 'ann' })).toMatchObject({ data: { held_until: null, resources: [ORDERS] } });
  expect(await put({ holder: 'bob', resources: [] })).toMatchObject({ data: { resources: [] } });
});

test('two holders that begin at the same time: one is refused', async () => {
  const begin = (holder: string) => hw.api('PUT', '/stacks/raced', { holder, hold_seconds: 60 });
  const statuses = (await Promise.all([begin('ann'), begin('bob')])).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409]);
});

test('a stack that is deleted is there no more; names are checked, and unknown kinds refused', async () => {
  await hw.api('PUT', '/stacks/short', { holder: 'ann' });
  expect(await hw.api('DELETE', '/stacks/short')).toMatchObject({ status: 204 });
  for (const method of ['GET', 'DELETE'] as const)
    expect(await hw.api(method, '/stacks/short')).toMatchObject({ status: 404 });
  expect(await hw.api('PUT', '/stacks/a%20b', { holder: 'ann' })).toMatchObject({ status: 400 });
  const odd = { holder: 'ann', resources: [{ ...ORDERS, kind: 'planet' }] };
  expect(await hw.api('PUT', '/stacks/odd', odd)).toMatchObject({ status: 400 });
});

test('a key that may only read sees no fingerprints of secrets, and changes nothing', async () => {
  await hw.api('PUT', '/stacks/seen', { holder: 'ann', resources: [ORDERS] });
  const { data: key } = await hw.api('POST', '/api_keys', { name: 'reader', scopes: ['read'] });
  const reader = hw.as(key.api_key);
  const { data: read } = await reader('GET', '/stacks/seen');
  const { kind, key: name, id } = ORDERS;
  expect(read.resources).toEqual([{ kind, key: name, id }]);
  expect(await reader('PUT', '/stacks/seen', { holder: 'reader' })).toMatchObject({ status: 403 });
});
