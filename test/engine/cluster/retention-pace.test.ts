import { beforeEach, expect, test } from 'vitest';
import { createRetention, pauseAfter } from '../../../engine/src/cluster/retention/retention.ts';

import { insertAccount, insertSource } from '../../support/source-rows.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const options = { defaultDays: 30, defaultVersions: 20, nowMs: Date.now };

const database = databaseOfTests();
beforeEach(async () => {
  await sql()`delete from events`;
  await sql()`delete from accounts`;
});

const sql = () => database.db.sql;

/** Events that are long over. */
async function expired(emitterId: string, count: number): Promise<void> {
  await sql()`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${emitterId}, 1000 + last.seq, last.seq + n, 'o_x', '', '1' from generate_series(1, ${count}::int4) as n, (
      select coalesce(max(seq), 0) as seq from events where emitter_id = ${emitterId}
    ) as last`;
}

async function leftOf(emitterId: string): Promise<number> {
  const [row] = await sql()<{ count: number }[]>`
    select count(*)::int4 as count from events where emitter_id = ${emitterId}`;
  return row?.count ?? 0;
}

/** Ids of `count` new sources, in order. */
async function sources(count: number): Promise<string[]> {
  const owner = await insertAccount(sql());
  const ids = await Promise.all(Array.from({ length: count }, () => insertSource(sql(), owner)));
  const rows = await sql()<{ id: string }[]>`select id from emitters where id = any(${ids}::text[]) order by id`;
  return rows.map(({ id }) => id);
}

/**
 * Turns until the last one has nothing left, while the first gets more than one turn deletes before
 * each.
 */
async function turnsBeside(ids: readonly string[]): Promise<number> {
  const [busy = '', quiet = ''] = [ids[0], ids.at(-1)];
  await expired(quiet, 10);
  const turn = createRetention({ sql: sql(), ...options });
  let turns = 0;
  for (; (await leftOf(quiet)) > 0 && turns < 60; turns++) {
    await expired(busy, 1_500);
    expect(await turn()).toBe('much');
  }
  expect(await leftOf(busy)).toBeGreaterThan(0);
  return turns;
}

test('a tenant with much to delete does not delay the turns of other tenants', async () => {
  expect(await turnsBeside(await sources(250))).toBeLessThan(60);
});

test('nor those that are looked at in the same turn', async () => {
  expect(await turnsBeside(await sources(2))).toBeLessThan(60);
});

test('the pause is as long as the turn while much is left, and long when nothing is left', () => {
  expect(pauseAfter('much', 300)).toBe(300);
  expect(pauseAfter('more', 300)).toBe(3_000);
  expect(pauseAfter('more', 5_000)).toBe(10_000);
  expect(pauseAfter('nothing', 300)).toBe(10_000);
});
