import { expect, test } from 'vitest';
import { createSourceRuntimes } from '../../../engine/src/runs/source-runtime.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { accountDatabase } from '../../support/account-database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

const world = accountDatabase();

/** Every sealed value opens to this many characters. */
const SECRET_CHARS = 500_000;
const opener = { open: () => JSON.stringify('s'.repeat(SECRET_CHARS)), endpointUrl: () => '' };
const runtimes = () => createSourceRuntimes(world.sql, opener);

/** A source with one prop. */
async function sourceWith(value: unknown, accountId = world.accountId): Promise<string> {
  const { sql } = world;
  const id = await insertSource(sql, accountId);
  await sql`
    update sources set configured_props = ${JSON.stringify({ text: value })}::text::jsonb,
      dynamic_props = '[{ "name": "text", "type": "string" }]'
    where id = ${id}`;
  return id;
}

const sourceOfAnother = async (value: unknown) => sourceWith(value, await insertAccount(world.sql));

const textOf = (chars: number) => 'x'.repeat(chars);

test('sources with large props are given up, those used longest ago first', async () => {
  const cache = runtimes();
  // Three of them fit, four do not.
  const large = textOf(LIMITS.maxCachedSourceBytes / 14);
  const ids = [await sourceWith(large), await sourceWith(large), await sourceWith(large), await sourceWith(large)];
  const first = [];
  for (const id of ids) first.push(await cache.get(id));
  expect(await cache.get(ids[3] ?? '')).toBe(first[3]);
  expect(await cache.get(ids[1] ?? '')).toBe(first[1]);
  const again = await cache.get(ids[0] ?? '');
  expect(again).not.toBe(first[0]);
  expect(again).toEqual(first[0]);
});

test('a secret weighs all the forms that are searched', async () => {
  const cache = runtimes();
  const ids = [await sourceWith({ $sealed: 'one' }), await sourceWith({ $sealed: 'two' })] as const;
  const first = await cache.get(ids[0]);
  await cache.get(ids[1]);
  expect(await cache.get(ids[0])).not.toBe(first);
});

test('one that weighs more than all may together is read each time, and takes no room of others', async () => {
  const cache = runtimes();
  const text = textOf(LIMITS.maxCachedSourceBytes / 3);
  const [large, small] = [await sourceWith(text), await sourceOfAnother('short')];
  const other = await cache.get(small);
  const first = await cache.get(large);
  expect(first?.props['text']).toEqual({ kind: 'value', value: text });
  expect(await cache.get(large)).not.toBe(first);
  expect(await cache.get(small)).toBe(other);
});

test('ten sources with large secrets push out nothing of another account', async () => {
  const cache = runtimes();
  const limitTimeShare = await sourceOfAnother('short');
  const first = await cache.get(limitTimeShare);
  for (let i = 0; i < 10; i++) await cache.get(await sourceWith({ $sealed: `${i}` }));
  expect(await cache.get(limitTimeShare)).toBe(first);
});
