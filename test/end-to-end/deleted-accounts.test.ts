import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteSomeOfAccount } from '../../engine/src/accounts/delete-account.sql.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';

let node: Headwater;
beforeAll(async () => {
  node = await startHeadwater();
});
afterAll(() => node.stop());

const SOURCE = `export default { name: 'Kept', version: '1',
  props: { http: '$.interface.http', db: '$.service.db', timer: { type: '$.interface.timer', default: { cron: '0 0 1 1 *' } } },
  dedupe: 'unique',
  run(event) { this.db.set('n', event.body?.n ?? 0); this.$emit(event.body ?? {}, { id: event.body?.n ?? 0 }); } };`;
const STEP = `export default { run({ $ }) { $.send.http({ method: 'POST', url: 'http://127.0.0.1:2/' }); return 1; } };`;

/** Something in as many tables as the API reaches. Answers the ids that rows may be found by. */
async function fill(hw: Headwater, receiver: string): Promise<string[]> {
  const source = await hw.deploy(SOURCE);
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await hw.api('POST', '/auto_subscriptions', { listener_id: webhook.id, event_name: '' });
  const trigger = { type: 'http' };
  const steps = [{ namespace: 'a', component_code: STEP }];
  const { data: workflow, text } = await hw.api('POST', '/workflows', { name: 'W', triggers: [trigger], steps });
  if (workflow === undefined) throw new Error(text);
  await hw.api('PUT', '/environment_variables/TOKEN', { value: 'secret' });
  const { data: store } = await hw.api('POST', '/data_stores', { name: 'S' });
  await hw.api('PUT', `/data_stores/${store.id}/record`, { key: 'k', value: 1 });
  await hw.api('POST', '/events', { data: { n: 1 }, id: 'once' });
  await hw.api('GET', '/sample_receiver');
  const body = JSON.stringify({ n: 1 });
  await hw.api('PUT', '/users/me/settings', { trace_context: true });
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const headers = { 'content-type': 'application/json', traceparent };
  await fetch(source.endpoint, { method: 'POST', headers, body });
  await fetch(workflow.triggers[0].endpoint_url, { method: 'POST', headers, body });
  await hw.untilEvents(source.id, 1);
  const deliveries = () => hw.sql`select from deliveries where webhook_id = ${webhook.id} and status = 'delivered'`;
  await eventually(async () => (await deliveries()).length > 0);
  await eventually(
    async () =>
      (await hw.sql`select from executions where account_id = ${hw.accountId} and ended_at is not null`).length,
  );
  await hw.untilIdle();
  await eventually(async () => (await hw.sql`select from stats where account_id = ${hw.accountId}`).length > 0);
  await hw.sql`insert into delivery_responses (webhook_id, delivery_id, at_ms, body)
    select webhook_id, id, 1, 'x'::bytea from deliveries where webhook_id = ${webhook.id}`;
  return [hw.accountId, source.id, webhook.id, workflow.id, store.id];
}

/** Rows of all tables in which one of the ids stands, as text, by table. */
async function rowsNaming(sql: Sql, ids: readonly string[]): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string; schema: string }[]>`
    select table_name::text as name, table_schema::text as schema from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema in (current_schema(), 'graphile_worker')`;
  const found = new Map<string, string[]>();
  for (const { schema, name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select t::text as row from ${sql(schema)}.${sql(name)} t where t::text ~ ${ids.join('|')}`;
    if (rows.length > 0) found.set(name, rows.map(({ row }) => row).toSorted());
  }
  return found;
}

test('no table has a row of a deleted account, and all have those of its neighbour', async () => {
  const receiver = await startReceiver();
  const [hw, neighbour] = [await node.newAccount(), await node.newAccount()];
  const [ids, others] = [await fill(hw, receiver.url), await fill(neighbour, receiver.url)];
  const filled = await rowsNaming(node.sql, ids);
  const expected = [
    'events',
    'deliveries',
    'executions',
    'sends',
    'component_db',
    'stats',
    'published_ids',
    'trace_contexts',
  ];
  expect([...filled.keys()]).toEqual(expect.arrayContaining(expected));
  const before = await rowsNaming(node.sql, others);

  const path = `/tenants/${hw.accountId}`;
  expect((await node.api('DELETE', path)).status).toBe(403);
  expect((await node.admin('DELETE', path)).data).toMatchObject({
    id: hw.accountId,
    state: 'deleting',
    ended_at: null,
  });
  expect((await hw.api('GET', '/users/me')).status).toBe(401);
  const resumed = await node.admin('POST', `${path}/resume`);
  expect([409, 404]).toContain(resumed.status);
  const ended = await eventually(async () => {
    const { data } = await node.admin('DELETE', path);
    return data.state === 'deleted' && data;
  });
  expect(ended.deleted_rows).toBeGreaterThan(20);
  const left = async () => {
    const rows = await rowsNaming(node.sql, ids);
    rows.delete('account_deletions');
    // The operator's own entries, that it made and deleted the account, are not the account's.
    rows.delete('audit_log');
    // The job that looks once more, a minute later.
    const jobs = (rows.get('_private_jobs') ?? []).filter((row) => !row.includes('delete-account'));
    if (jobs.length === 0) rows.delete('_private_jobs');
    return rows;
  };
  await expect.poll(left, { timeout: 30_000 }).toEqual(new Map());
  expect(await node.sql`select from audit_log where account_id = ${hw.accountId}`).toHaveLength(0);
  expect((await node.admin('GET', path)).status).toBe(404);
  expect((await node.admin('DELETE', '/tenants/o_nobody')).status).toBe(404);

  const after = await rowsNaming(node.sql, others);
  // Its sends and deliveries are tried again meanwhile, what it does is counted, and the last use
  // of its key is noted later: these rows change.
  const changing = [
    'stats',
    'usage_days',
    'account_histories',
    'history_parts',
    '_private_jobs',
    'sends',
    'deliveries',
    'emitter_state',
    'api_keys',
  ];
  const steady = [...before].filter(([table]) => !changing.includes(table));
  for (const [table, rows] of steady) expect([table, after.get(table)]).toEqual([table, expect.arrayContaining(rows)]);
  const mayEnd = ['_private_jobs'];
  const gone = changing.filter((table) => before.has(table) && !after.has(table) && !mayEnd.includes(table));
  expect(gone).toEqual([]);
  expect((await neighbour.api('GET', '/users/me')).status).toBe(200);
  await receiver.stop();
});

/** As the request does, without its job: the test is the one that goes on. */
async function markDeleted(accountId: string): Promise<void> {
  await node.sql`update accounts set suspended_at = now(), deleted_at = now() where id = ${accountId}`;
  await node.sql`insert into account_deletions (account_id, name) values (${accountId}, 'Tests')`;
}

test('a deletion that ends anywhere is gone on with by the next call, and a repeated one does nothing', async () => {
  const hw = await node.newAccount();
  const source = await hw.deploy(SOURCE);
  for (let n = 0; n < 3; n++) await hw.api('POST', `/sources/${source.id}/events`, { data: { n } });
  await hw.untilIdle();
  await markDeleted(hw.accountId);
  let turns = 0;
  // One row at a time, by two who do not know of each other.
  while ((await Promise.all([1, 1].map((limit) => deleteSomeOfAccount(node.sql, hw.accountId, limit)))).some(Boolean))
    turns++;
  expect(turns).toBeGreaterThan(3);
  expect(await deleteSomeOfAccount(node.sql, hw.accountId, 10)).toBe(false);
  const rows = await rowsNaming(node.sql, [hw.accountId, source.id]);
  expect(
    [...rows.keys()].filter((table) => !['account_deletions', 'audit_log', '_private_jobs'].includes(table)),
  ).toEqual([]);
});

test('rows that a node commits for a deleted account are deleted by the second look', async () => {
  const hw = await node.newAccount();
  await markDeleted(hw.accountId);
  while (await deleteSomeOfAccount(node.sql, hw.accountId, 100));
  await node.sql`
    insert into invocations (id, account_id, source_id, kind, event)
    values ('inv_late', ${hw.accountId}, 'dc_gone', 'http', '{}')`;
  expect(await deleteSomeOfAccount(node.sql, hw.accountId, 100)).toBe(true);
  expect(await node.sql`select from invocations where account_id = ${hw.accountId}`).toHaveLength(0);
});
