import { afterAll, beforeAll, expect, test } from 'vitest';
import { masked } from '../../api/src/audit.ts';
import { expireAudit } from '../../engine/src/observe/audit/audit-log.sql.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const EMITS = `export default { name: 'E', version: '1', props: { http: '$.interface.http' }, run(e) { this.$emit(e.body); } };`;

interface Entry {
  action: string;
  thing: string;
  actor_id: string;
  actor_name: string;
  account_id: string | null;
  address: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  outcome: 'made' | 'unknown';
}

const entries = async (of: Headwater, query = {}) => (await of.api('GET', '/audit', query)).data as Entry[];

test('each change names its author, address, resource and changed fields', async () => {
  const source = await hw.deploy(EMITS);
  await hw.api('PUT', `/sources/${source.id}`, { name: 'Renamed' });
  await hw.api('DELETE', `/sources/${source.id}`);
  await hw.api('GET', `/sources/${source.id}`);
  const ofSource = await entries(hw, { thing: source.id });
  expect(ofSource.map(({ action }) => action)).toEqual(['deleteSource', 'updateSource', 'createSource']);
  const [deleted, updated, created] = ofSource;
  expect(updated).toMatchObject({
    account_id: hw.accountId,
    actor_id: expect.stringMatching(/^key_/),
    actor_name: 'First key',
    address: expect.stringContaining('127.0.0.1'),
    before: { name: 'E' },
    after: { name: 'Renamed' },
    outcome: 'made',
  });
  expect(Object.keys(updated!.after!)).not.toContain('configured_props');
  expect([created!.before, deleted!.after, deleted!.before?.['name']]).toEqual([null, null, 'Renamed']);
});

test('secrets are masked, and refused changes and data leave no entry', async () => {
  const given = { url: 'http://127.0.0.1:2/', headers: { 'x-token': 'hidden-value' } };
  const { data: webhook } = await hw.api('POST', '/webhooks', given);
  await hw.api('POST', `/webhooks/${webhook.id}/rotate_secret`, {});
  const { data: key } = await hw.api('POST', '/api_keys', { name: 'shown once' });
  await hw.api('PUT', '/environment_variables/TOKEN', { value: 'value-of-token' });
  await hw.api('POST', '/events', { data: 1 });
  expect((await hw.api('PUT', `/webhooks/${webhook.id}`, { url: 'nonsense' })).status).toBe(400);
  const all = await entries(hw, { limit: 100 });
  const text = JSON.stringify(all);
  expect(text).not.toMatch(/hidden-value|value-of-token/);
  expect(text).not.toContain(key.api_key);
  expect(text).not.toContain(webhook.secret);
  expect(all.find(({ action }) => action === 'createApiKey')?.after).toMatchObject({ api_key: '***' });
  expect(all.map(({ action }) => action)).not.toContain('publishEvents');
  expect(all.filter(({ action }) => action === 'updateWebhook')).toEqual([]);
  expect(
    masked({ a: [{ client_secret: 's', n: 1 }], text: `see hw_${'k'.repeat(40)}`, url: 'http://u:word@h/' }),
  ).toEqual({
    a: [{ client_secret: '***', n: 1 }],
    text: 'see ***',
    url: 'http://***@h/',
  });
});

test('a list is filtered by time, actor, action and thing, goes on by its cursor, and is the account’s own', async () => {
  const other = await hw.newAccount();
  const { data: key } = await other.api('POST', '/api_keys', { name: 'ci' });
  const since = Date.now();
  for (const n of [1, 2, 3]) await hw.as(key.api_key)('POST', '/data_stores', { name: `S${n}` });
  expect(await entries(other, { actor: 'ci' })).toHaveLength(3);
  expect(await entries(other, { actor: key.id, since })).toHaveLength(3);
  expect(await entries(other, { action: 'createDataStore', until: since - 60_000 })).toEqual([]);
  const first = await other.api('GET', '/audit', { actor: 'ci', limit: 2 });
  const { page_info: info } = JSON.parse(first.text) as { page_info: { end_cursor: string; total_count: number } };
  expect([first.data.length, info.total_count]).toEqual([2, 3]);
  expect(await entries(other, { actor: 'ci', limit: 2, after: info.end_cursor })).toHaveLength(1);
  expect((await entries(hw, { limit: 100 })).some(({ account_id: id }) => id !== hw.accountId)).toBe(false);
  // Text that the database cannot hold names nothing.
  for (const name of ['actor', 'action', 'thing'])
    expect((await hw.api('GET', '/audit', { [name]: '\0' })).status).toBe(400);
});

test('the operator sees all accounts, and an account sees what the operator did to it', async () => {
  const tenant = await hw.newAccount();
  await hw.admin('PUT', `/tenants/${tenant.accountId}`, { name: 'Renamed by the operator' });
  const [own] = await entries(tenant, { actor: 'operator' });
  expect(own).toMatchObject({ action: 'updateTenant', thing: tenant.accountId, before: { name: 'Tests' } });
  const { data: all } = await hw.admin('GET', '/audit', { thing: tenant.accountId });
  expect((all as Entry[]).map(({ action }) => action)).toEqual(['updateTenant', 'createAccount']);
});

test('entries are kept as long as the account keeps them', async () => {
  const [short, long] = [await hw.newAccount(), await hw.newAccount()];
  for (const one of [short, long]) await one.api('POST', '/data_stores', { name: 'S' });
  await short.limit({ auditRetentionDays: 10 });
  await hw.sql`
    update audit_log set at = now() - interval '20 days' where account_id in (${short.accountId}, ${long.accountId})`;
  await expireAudit(hw.sql, 365, 1_000);
  expect(await entries(short)).toEqual([]);
  expect((await entries(long)).length).toBeGreaterThan(0);
});

/** Writes of the log wait, and reads go on, until `release`. */
async function holdLog() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: onHeld } = Promise.withResolvers<void>();
  const holding = hw.sql.begin(async (tx) => {
    await tx`lock table audit_log in exclusive mode`;
    onHeld();
    await released;
  });
  await held;
  return {
    async release() {
      release();
      await holding;
    },
  };
}

/** Cuts the connection of the next write of the log that waits. */
const cutWrite = () =>
  eventually(async () => {
    const cut = await hw.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ~ 'insert into audit_log'`;
    return cut.length === 1;
  });

test('a change whose entry cannot be stored is not made', async () => {
  const tenant = await hw.newAccount();
  const log = await holdLog();
  const asked = tenant.api('POST', '/data_stores', { name: 'never made' });
  await cutWrite();
  expect((await asked).status).toBeGreaterThanOrEqual(500);
  await log.release();
  expect((await tenant.api('GET', '/data_stores')).data).toEqual([]);
  expect(await entries(tenant, { action: 'createDataStore' })).toEqual([]);
});

test('a refused change that left something behind keeps its entry, and one that was taken back has none', async () => {
  const tenant = await hw.newAccount();
  const component = (version: string, activate: string) => `export default { name: 'H', version: '${version}',
    props: { db: '$.service.db' }, hooks: { activate() { ${activate} } }, run() {} };`;
  const fails = component('2', 'throw new Error("not now");');
  const once = 'if (this.db.get("n") === 1) throw new Error("only once"); this.db.set("n", 1);';
  const [back, stopped] = [await tenant.deploy(component('1', '')), await tenant.deploy(component('1', once))];
  for (const { id } of [back, stopped])
    expect((await tenant.api('PUT', `/sources/${id}`, { component_code: fails })).status).toBe(422);
  expect((await tenant.api('GET', `/sources/${stopped.id}`)).data.active).toBe(false);
  const changes = await entries(tenant, { action: 'updateSource' });
  expect(changes).toMatchObject([{ thing: stopped.id, outcome: 'unknown' }]);
});

test('wrong links write nothing into the log', async () => {
  const log = await holdLog();
  const post = (path: string, body: Record<string, string>) =>
    fetch(`${hw.url}/v1/session/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: 'a long enough password', ...body }),
    });
  const reset = await post('password_reset/password', { token: `hw_reset_${'x'.repeat(40)}` });
  const joining = await post('invitation/accept', { token: `hw_invite_${'x'.repeat(40)}` });
  expect([reset.status, joining.status]).toEqual([404, 404]);
  await log.release();
});

test('a change that was cut off from its log has an entry that says so, and is completed when it can be', async () => {
  const tenant = await hw.newAccount();
  const { data: store } = await tenant.api('POST', '/data_stores', { name: 'before' });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: onHeld } = Promise.withResolvers<void>();
  // The change itself waits here, so that the log is held between the change and its completion.
  const holding = hw.sql.begin(async (tx) => {
    await tx`select from data_stores where id = ${store.id} for update`;
    onHeld();
    await released;
  });
  await held;
  const asked = tenant.api('PUT', `/data_stores/${store.id}`, { name: 'after' });
  const updates = () => entries(tenant, { action: 'updateDataStore' });
  await eventually(async () => (await updates()).length === 1);
  expect(await updates()).toMatchObject([{ outcome: 'unknown', thing: store.id }]);
  const log = await holdLog();
  release();
  await holding;
  await cutWrite();
  // A crash at this moment leaves this.
  expect((await tenant.api('GET', `/data_stores/${store.id}`)).data.name).toBe('after');
  expect(await updates()).toMatchObject([{ outcome: 'unknown', before: { name: 'before' }, after: null }]);
  // The answer does not wait for as long as the log does.
  expect((await asked).status).toBe(200);
  await log.release();
  await eventually(async () => (await updates())[0]?.outcome === 'made');
  expect(await updates()).toMatchObject([{ before: { name: 'before' }, after: { name: 'after' } }]);
});
