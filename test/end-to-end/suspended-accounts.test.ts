import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

const ECHO = `export default { name: 'Echo', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body); } };`;
const TICKS = `export default { name: 'Ticks', version: '1',
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
  run() { this.$emit('tick'); } };`;

const suspend = (hw: Headwater) => hw.admin('POST', `/tenants/${hw.accountId}/suspend`);
const resume = (hw: Headwater) => hw.admin('POST', `/tenants/${hw.accountId}/resume`);
const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

test('a suspended account is refused by its endpoints and keys with a code that names it, and can be read', async () => {
  const hw = await node.newAccount();
  const neighbour = await node.newAccount();
  const [source, other] = await Promise.all([hw.deploy(ECHO), neighbour.deploy(ECHO)]);
  expect((await suspend(hw)).data).toMatchObject({ id: hw.accountId, state: 'suspended' });

  const refused = await post(source.endpoint, { n: 1 });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '300']);
  expect(await refused.json()).toMatchObject({ type: 'urn:headwater:error:endpoint-suspended' });
  for (const [method, path, body] of [
    ['POST', '/sources', { component_code: ECHO }],
    ['POST', '/events', { data: 1 }],
    ['PUT', `/sources/${source.id}`, { name: 'x' }],
    ['DELETE', `/sources/${source.id}`, {}],
  ] as const) {
    const answer = await hw.api(method, path, body);
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining('urn:headwater:error:account-suspended'),
    ]);
  }
  expect((await hw.api('GET', `/sources/${source.id}`)).data).toMatchObject({ active: true, name: 'Echo' });
  expect((await post(other.endpoint, { n: 1 })).status).toBe(200);
  await neighbour.untilEvents(other.id, 1);

  expect((await resume(hw)).data).toMatchObject({ state: 'active', suspended_at: null });
  expect((await post(source.endpoint, { n: 2 })).status).toBe(200);
  expect(await hw.untilEvents(source.id, 1)).toMatchObject([{ event: { n: 2 } }]);
});

test('events that wait when an account is suspended are held, and drain when it is resumed', async () => {
  const hw = await node.newAccount();
  const receiver = await startReceiver();
  const source = await hw.deploy(ECHO);
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await post(source.endpoint, { n: 0 });
  await eventually(() => receiver.requests.length === 1);
  await suspend(hw);
  // As if both had been accepted by a node that had not heard of it yet.
  const event = JSON.stringify({ method: 'POST', path: '/', query: {}, headers: {}, body: { n: 1 } });
  await hw.sql`
    insert into invocations (id, account_id, source_id, kind, event)
    values ('inv_held' || ${source.id}, ${hw.accountId}, ${source.id}, 'http', ${event})`;
  await hw.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq)
    select 'dlv_held' || ${source.id}, account_id, webhook_id, emitter_id, indexed_at_ms, seq
    from deliveries where webhook_id = ${webhook.id} limit 1`;
  await hw.sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${source.id}::text), job_key => 'run:' || ${source.id}::text)`;
  await hw.sql`select graphile_worker.add_job('deliver-webhook', json_build_object('webhookId', ${webhook.id}::text), job_key => 'deliver:' || ${webhook.id}::text || ':now')`;
  const jobs = () => hw.sql`
    select from graphile_worker.jobs where key in ('run:' || ${source.id}, 'deliver:' || ${webhook.id} || ':now')`;
  await eventually(async () => (await jobs()).length === 0, { what: 'lanes that end without a claim' });
  expect(receiver.requests).toHaveLength(1);
  expect(await hw.sql`select from invocations where source_id = ${source.id} and leased_by is null`).toHaveLength(1);

  await resume(hw);
  await hw.untilEvents(source.id, 2);
  await eventually(() => receiver.requests.length === 3, { what: 'the held delivery and that of the held run' });
  await hw.untilIdle();
  await receiver.stop();
});

test('timers of a suspended account do not fire, and fire again after it', async () => {
  const hw = await node.newAccount();
  const source = await hw.deploy(TICKS);
  await hw.untilEvents(source.id, 1);
  await suspend(hw);
  await hw.untilIdle();
  const due = async () => {
    const [row] = await hw.sql<{ due_ms: number }[]>`select due_ms from timers where source_id = ${source.id}`;
    return row!.due_ms;
  };
  const count = async () => (await hw.sql`select from events where emitter_id = ${source.id}`).length;
  const [before, dueBefore] = [await count(), await due()];
  await eventually(async () => (await due()) > dueBefore + 1_500, { what: 'two ticks that pass' });
  expect(await count()).toBe(before);
  expect(await hw.sql`select from invocations where source_id = ${source.id}`).toHaveLength(0);
  await resume(hw);
  await hw.untilEvents(source.id, before + 1);
});

test('the operator renames an account, gives it a key, and lists it with what it has', async () => {
  const hw = await node.newAccount();
  const { endpoint } = await hw.deploy(ECHO);
  const path = `/tenants/${hw.accountId}`;
  expect((await hw.admin('PUT', path, { name: ' Acme ', email: 'ops@acme.example' })).data).toMatchObject({
    name: 'Acme',
    email: 'ops@acme.example',
    sources: 1,
    workflows: 0,
    state: 'active',
  });
  expect((await hw.admin('PUT', path, { email: null })).data).toMatchObject({ name: 'Acme', email: null });
  expect((await hw.admin('PUT', path, { name: ' ' })).status).toBe(400);
  const { data: key } = await hw.admin('POST', `${path}/api_keys`, { name: 'recovery', scopes: ['read'] });
  expect((await hw.as(key.api_key)('GET', '/users/me')).data.orgs).toEqual([
    { id: hw.accountId, name: 'Acme', role: null },
  ]);
  expect((await hw.as(key.api_key)('POST', '/events', { data: 1 })).status).toBe(403);
  const { data: accounts } = await hw.admin('GET', '/tenants', { limit: 100 });
  expect(accounts.find(({ id }: { id: string }) => id === hw.accountId)).toMatchObject({ name: 'Acme', sources: 1 });
  const { data: own } = await hw.admin('GET', '/tenants', { endpoint_key: endpoint.split('/e/')[1] });
  expect(own).toMatchObject([{ id: hw.accountId }]);
  const hash = createHash('sha256').update(key.api_key).digest('hex');
  expect((await hw.admin('GET', '/tenants', { api_key_sha256: hash })).data).toMatchObject([{ id: hw.accountId }]);
  expect((await hw.admin('GET', '/tenants', { api_key_sha256: hash, endpoint_key: 'nobody' })).data).toEqual([]);
  expect((await hw.admin('GET', '/tenants', { api_key_sha256: key.api_key })).status).toBe(400);
  for (const [method, at] of [
    ['GET', ''],
    ['PUT', ''],
    ['POST', '/suspend'],
    ['POST', '/resume'],
    ['POST', '/api_keys'],
  ] as const) {
    expect((await hw.api(method, path + at, { name: 'x' })).status).toBe(403);
    expect(
      (await hw.admin(method, `/tenants/o_nobody${at}`, at === '/api_keys' || at === '' ? { name: 'x' } : {})).status,
    ).toBe(404);
  }
});
