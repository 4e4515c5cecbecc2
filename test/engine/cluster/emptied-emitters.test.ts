import { newId } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { accountDatabase } from '../../support/account-database.ts';
import { insertSource } from '../../support/source-rows.ts';

const world = accountDatabase();

const sql = () => world.sql;

/** A source that was deleted two hours ago, with its component. */
async function deletedSource(): Promise<string> {
  const id = await insertSource(sql(), world.accountId, { deleted: true });
  await sql()`update emitters set deleted_at = now() - interval '2 hours' where id = ${id}`;
  await sql()`
    update components set deleted_at = now() where id = (select component_id from emitters where id = ${id})`;
  return id;
}

/** So that two rounds have been made of all that there is. */
async function clean(): Promise<void> {
  const turn = createRetention({ sql: sql(), defaultDays: 30, defaultVersions: 20, nowMs: Date.now });
  for (let turns = 0; turns < 10; turns++) await turn();
}

const idsOf = async (table: 'emitters' | 'components') =>
  (await sql()<{ id: string }[]>`select id from ${sql()(table)}`).map(({ id }) => id);

test('a deleted source goes with the last of what it left, and its deleted component with it', async () => {
  const [_, emitted, ran] = [await deletedSource(), await deletedSource(), await deletedSource()];
  await sql()`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    values (${emitted}, ${Date.now()}, 0, ${world.accountId}, '', '1')`;
  await sql()`
    insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at)
    values (${newId('invocation')}, ${world.accountId}, ${ran}, 'http', 'ok', '[]', now(), now())`;
  await clean();
  expect(new Set(await idsOf('emitters'))).toEqual(new Set([emitted, ran]));
  expect(await idsOf('components')).toHaveLength(2);
  await sql()`delete from events`;
  await sql()`delete from runs`;
  await clean();
  expect([await idsOf('emitters'), await idsOf('components')]).toEqual([[], []]);
});

test('live sources stay, those that were deleted just now, and components that something else names', async () => {
  const live = await insertSource(sql(), world.accountId);
  const fresh = await insertSource(sql(), world.accountId, { deleted: true });
  const gone = await deletedSource();
  await sql()`update emitters set component_id = (select component_id from emitters where id = ${gone}) where id = ${fresh}`;
  await clean();
  expect(new Set(await idsOf('emitters'))).toEqual(new Set([live, fresh]));
  const [named] = await sql()<{ id: string }[]>`select component_id as id from emitters where id = ${fresh}`;
  expect(await idsOf('components')).toContain(named?.id);
});

test('more than one turn looks at are gone after two rounds', async () => {
  await Promise.all(Array.from({ length: 450 }, deletedSource));
  await clean();
  const left = await sql()`select from emitters where deleted_at < now() - interval '1 hour'`;
  expect(left).toHaveLength(0);
});
