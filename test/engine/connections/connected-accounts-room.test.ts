import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertConnectedAccount } from '../../../engine/src/connections/connected-accounts.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount } from '../../support/source-rows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.sql`insert into apps (id, slug, definition) values ('app_room', 'room', '{}')`;
});
afterAll(() => database.drop());

const add = (accountId: string, max: number) =>
  insertConnectedAccount(
    database.db.sql,
    {
      id: newId('connectedAccount'),
      accountId,
      userId: accountId,
      appId: 'app_room',
      name: null,
      credentials: 'sealed',
      uid: null,
      scopes: [],
      clientOwner: null,
      expiresInSeconds: null,
      refreshInSeconds: null,
    },
    max,
  );

test('twenty connections at the same time store exactly as many as the limit allows', async () => {
  const accountId = await insertAccount(database.db.sql);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => add(accountId, 3)));
  expect(outcomes.filter((isAdded) => isAdded)).toHaveLength(3);
  expect(await database.db.sql`select from connected_accounts where account_id = ${accountId}`).toHaveLength(3);
});

test('those that are deleted have no place, and do not pile up', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  await add(accountId, 1);
  await sql`
    insert into connected_accounts (id, account_id, user_id, app_id, deleted_at)
    select 'apn_' || n, ${accountId}, ${accountId}, 'app_room', now() - make_interval(secs => n)
    from generate_series(1, 1200) n`;
  expect(await add(accountId, 2)).toBe(true);
  const [row] = await sql`
    select count(deleted_at)::int as deleted, count(*) filter (where deleted_at is null)::int as there
    from connected_accounts where account_id = ${accountId}`;
  expect(row).toEqual({ deleted: 1_000, there: 2 });
  expect(await sql`select from connected_accounts where id = 'apn_1'`).toHaveLength(1);
});
