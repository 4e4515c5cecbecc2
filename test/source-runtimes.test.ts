import { expect, test } from 'vitest';
import { createSourceRuntimes } from '../engine/src/run/source-runtime.ts';
import { LIMITS } from '../shared/src/index.ts';
import { accountDatabase } from './support/account-database.ts';
import { insertSource } from './support/source-rows.ts';

const world = accountDatabase();

/** Whatever is sealed is this many characters long. */
const SECRET_CHARS = 500_000;
const opener = { open: () => JSON.stringify('s'.repeat(SECRET_CHARS)), endpointUrl: () => '' };
const runtimes = () => createSourceRuntimes(world.sql, opener);

/** A source with one prop. */
async function sourceWith(value: unknown): Promise<string> {
  const { accountId, sql } = world;
  const id = await insertSource(sql, accountId);
  await sql`
    update sources set configured_props = ${JSON.stringify({ text: value })}::text::jsonb,
      dynamic_props = '[{ "name": "text", "type": "string" }]'
    where id = ${id}`;
  return id;
}

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

test('a secret weighs what all the forms do that it is looked for in', async () => {
  const cache = runtimes();
  const ids = [await sourceWith({ $sealed: 'one' }), await sourceWith({ $sealed: 'two' })] as const;
  const first = await cache.get(ids[0]);
  await cache.get(ids[1]);
  expect(await cache.get(ids[0])).not.toBe(first);
});

test('one that weighs more than all may together is kept while it alone is used', async () => {
  const cache = runtimes();
  const [small, large] = [await sourceWith('short'), await sourceWith(textOf(LIMITS.maxCachedSourceBytes))];
  const first = await cache.get(large);
  expect(await cache.get(large)).toBe(first);
  expect(first?.props['text']).toEqual({ kind: 'value', value: textOf(LIMITS.maxCachedSourceBytes) });
  const other = await cache.get(small);
  expect(await cache.get(small)).toBe(other);
  expect(await cache.get(large)).not.toBe(first);
});
