import { accountLimits, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../../engine/src/db/database.ts';
import { deleteOrphanedInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { deleteSourceRows } from '../../../engine/src/sources/delete-source.sql.ts';
import { readStalledLanes } from '../../../engine/src/cluster/requeue.sql.ts';
import { deleteWebhook } from '../../../engine/src/outbox/webhooks/delete-webhook.sql.ts';
import { subscribeNewEmitter } from '../../../engine/src/outbox/subscriptions/subscribe-new-emitter.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';

let database: TestDatabase;
let sql: Sql;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
  accountId = await insertAccount(sql);
});
afterAll(() => database.drop());

async function webhook(): Promise<string> {
  const id = newId('webhook');
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    values (${id}, ${accountId}, ${accountId}, 'http://127.0.0.1:9/', 'raw', 'sealed')`;
  return id;
}

test.each([
  ['webhook', webhook, (id: string) => deleteWebhook(database.db, accountId, id)],
  [
    'source',
    () => insertSource(sql, accountId),
    async (id: string) => deleteSourceRows(sql, await leaseSource(sql, accountId, id)),
  ],
])(
  'a subscription of a new source never outlives a %s that is deleted while the source is made',
  async (_, make, remove) => {
    const listenerId = await make();
    await sql`
      insert into auto_subscriptions (id, account_id, listener_id)
      values (${newId('autoSubscription')}, ${accountId}, ${listenerId})`;
    let removing: Promise<unknown> | undefined;
    await sql.begin(async (tx) => {
      await subscribeNewEmitter(tx, accountId, newId('source'), accountLimits());
      removing = remove(listenerId);
      // Without the lock, the removal would be finished by now, and would have missed the
      // uncommitted row.
      await eventually(async () => (await sql`select from pg_locks where not granted`).length > 0);
    });
    await removing;
    for (const table of ['subscriptions', 'auto_subscriptions']) {
      expect(await sql`select from ${sql(table)} where listener_id = ${listenerId}`).toHaveLength(0);
    }
  },
);

test('invocations committed while their source is deleted are deleted by its lane, and a live source keeps its own', async () => {
  const [gone, live] = [await insertSource(sql, accountId, { deleted: true }), await insertSource(sql, accountId)];
  for (const sourceId of [gone, gone, gone, live]) {
    await sql`
      insert into invocations (id, account_id, source_id, kind, event)
      values (${newId('invocation')}, ${accountId}, ${sourceId}, 'event', '1')`;
  }
  // Its lane may have found it alive, and claimed nothing.
  expect((await readStalledLanes(sql, 0)).toSorted()).toEqual([gone, live].toSorted());
  expect(await deleteOrphanedInvocations(sql, gone, 2)).toBe(2);
  expect(await deleteOrphanedInvocations(sql, gone, 2)).toBe(1);
  expect(await deleteOrphanedInvocations(sql, live, 2)).toBe(0);
  expect((await sql`select source_id from invocations`).map((row) => row['source_id'])).toEqual([live]);
});
