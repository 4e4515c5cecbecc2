import { expect, test } from 'vitest';
import { addConnectedAccount } from '../../../engine/src/connections/add-connected-account.ts';
import { createDataStoreCalls } from '../../../engine/src/data-stores/run-calls.ts';
import { createOpenStreams } from '../../../engine/src/events/open-streams.ts';
import { accountLimits, LIMITS, newId } from '../../../shared/src/index.ts';

import { insertAccount } from '../../support/source-rows.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

// Limits of the platform that a test over HTTP cannot reach. Each refusal has the limit's name, its
// value and the used amount.

const database = databaseOfTests();

test('one connected account too many', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const value = LIMITS.maxConnectedAccounts;
  await sql`insert into apps (id, slug, definition) values ('app_one', 'one', '{}')`;
  await sql`
    insert into connected_accounts (id, account_id, user_id, app_id)
    select 'apn_' || n, ${accountId}, ${accountId}, 'app_one' from generate_series(1, ${value}::int) n`;
  const account = {
    id: newId('connectedAccount'),
    accountId,
    userId: accountId,
    appId: 'app_one',
    name: null,
    credentials: 'sealed',
    uid: null,
    scopes: [],
    clientOwner: null,
    expiresInSeconds: null,
    refreshInSeconds: null,
  };
  await expect(addConnectedAccount(sql, account)).rejects.toMatchObject({
    code: 'CONFLICT',
    limit: { name: 'maxConnectedAccounts', value, used: value + 1 },
  });
});

test('values for data stores that wait', async () => {
  const call = createDataStoreCalls(database.db.sql, () => true);
  const value = LIMITS.maxDataStoreBytesPerTenant;
  const valueJson = `"${'x'.repeat(32 * 1024 * 1024)}"`;
  const limits = { ...accountLimits(), maxDataStoreValueBytes: value };
  const gone = new AbortController();
  const set = () => call({ id: 'acc_1', limits }, { op: 'set', storeId: 'ds_1', key: 'k', valueJson }, gone.signal);
  const waiting = [set(), set()];
  const refused = await set();
  gone.abort();
  await Promise.all(waiting);
  expect(refused).toMatchObject({
    ok: false,
    limit: { name: 'maxDataStoreBytesPerTenant', value, used: 3 * valueJson.length },
  });
});

test('streams of a node', () => {
  const streams = createOpenStreams();
  const value = LIMITS.maxStreams;
  for (let n = 0; n < value; n++) streams.enter(`acc_${n}`, 1);
  expect(() => streams.enter('acc_new', 1)).toThrow(
    expect.objectContaining({ code: 'UNAVAILABLE', limit: { name: 'maxStreams', value, used: value + 1 } }),
  );
});
