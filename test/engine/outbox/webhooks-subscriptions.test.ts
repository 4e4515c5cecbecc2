import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal, Subscriptions, WebhookRecord, Webhooks } from '../../../engine/src/contract/engine.ts';
import { createSubscriptions } from '../../../engine/src/outbox/subscriptions/subscriptions.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { roomWith } from '../../support/account-room.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { insertTurnWorkflow } from '../../support/turn-rows.ts';

let world: DeliveryWorld;
let webhooks: Webhooks;
let subscriptions: Subscriptions;
let who: Principal;
let webhook: WebhookRecord;
let emitterId: string;

beforeAll(async () => {
  world = await createDeliveryWorld();
  webhooks = createWebhooks({ db: world.database.db, sealer: world.sealer, room: roomWith() });
  subscriptions = createSubscriptions({ db: world.database.db, room: roomWith() });
  who = await world.account();
  webhook = await webhooks.create(who, { url: 'https://example.com/' });
  emitterId = await source(who);
});
afterAll(() => world.stop());

async function source(owner: Principal, state: 'live' | 'deleted' | 'deploying' = 'live'): Promise<string> {
  const { sql } = world.database.db;
  const [componentId, id] = [newId('savedComponent'), newId('source')];
  await sql`
    insert into components (id, account_id, name, version, type, code, code_hash, bundle, hooks, configurable_props)
    values (${componentId}, ${owner.accountId}, 'c', '1', 'source', '', '', '', '{}', '[]')`;
  await sql`
    insert into sources (id, account_id, user_id, component_id, name, name_slug, configured_props, deployed_at, deleted_at)
    values (${id}, ${owner.accountId}, ${owner.userId}, ${componentId}, 's', ${id}, '{}',
      ${state === 'deploying' ? null : sql`now()`}, ${state === 'deleted' ? sql`now()` : null})`;
  return id;
}

const listAll = async () => (await subscriptions.list(who, { limit: 100 })).items;

test('subscribing twice answers the same subscription, and channels are apart', async () => {
  const key = { emitterId, listenerId: webhook.id };
  const [a, again, empty] = [
    await subscriptions.create(who, key),
    await subscriptions.create(who, key),
    await subscriptions.create(who, { ...key, eventName: '' }),
  ];
  expect(a).toMatchObject({ ...key, eventName: '' });
  expect(a.id).toMatch(/^sub_/);
  expect([again, empty]).toEqual([a, a]);
  const errors = await subscriptions.create(who, { ...key, eventName: '$errors' });
  expect(errors.id).not.toBe(a.id);
  expect((await listAll()).map((item) => item.id)).toEqual([errors.id, a.id]);
});

test('subscribing many times at once makes one subscription', async () => {
  const key = { emitterId, listenerId: webhook.id, eventName: 'at-once' };
  const made = await Promise.all(Array.from({ length: 10 }, () => subscriptions.create(who, key)));
  expect(new Set(made.map((item) => item.id)).size).toBe(1);
});

test.each(['dc_*', 'p_*'])('%s stands for every emitter of its kind', async (glob) => {
  const made = await subscriptions.create(who, { emitterId: glob, listenerId: webhook.id });
  expect(made.emitterId).toBe(glob);
});

test('an emitter that is unknown, deleted, not deployed yet or of another account is told by name', async () => {
  const other = await world.account();
  const unknown = [
    newId('source'),
    await source(who, 'deleted'),
    await source(who, 'deploying'),
    await source(other),
    'sc_*',
    '*',
  ];
  for (const id of unknown) {
    await expect(subscriptions.create(who, { emitterId: id, listenerId: webhook.id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ path: 'emitter_id' }],
    });
  }
});

test('a workflow of the account emits and listens; one of another account, or a deleted one, is told by name', async () => {
  const { sql } = world.database.db;
  const mine = await insertTurnWorkflow(sql, who.accountId, {});
  const key = { emitterId: mine, listenerId: mine, eventName: 'again' };
  expect(await subscriptions.create(who, key)).toMatchObject(key);
  await subscriptions.delete(who, key);
  const gone = await insertTurnWorkflow(sql, who.accountId, {});
  await sql`update emitters set deleted_at = now() where id = ${gone}`;
  const others = await insertTurnWorkflow(sql, (await world.account()).accountId, {});
  for (const id of [gone, others, 'p_none']) {
    const message = `No workflow ${id} in this account`;
    await expect(subscriptions.create(who, { emitterId: id, listenerId: webhook.id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ path: 'emitter_id', message }],
    });
    await expect(subscriptions.create(who, { emitterId, listenerId: id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ path: 'listener_id', message }],
    });
  }
});

test('a listener that is unknown, or a pattern, is told by name', async () => {
  for (const kind of ['webhook', 'source', 'workflow'] as const) {
    const listenerId = newId(kind);
    await expect(subscriptions.create(who, { emitterId, listenerId })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ path: 'listener_id', message: `No ${kind} ${listenerId} in this account` }],
    });
  }
  for (const listenerId of ['dc_*', 'p_*', '']) {
    await expect(subscriptions.create(who, { emitterId, listenerId })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      fields: [{ path: 'listener_id' }],
    });
  }
});

test('a channel that is too long or holds NUL is refused', async () => {
  for (const eventName of ['x'.repeat(129), 'a\0b']) {
    await expect(subscriptions.create(who, { emitterId, listenerId: webhook.id, eventName })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      fields: [{ path: 'event_name' }],
    });
  }
});

test('unsubscribing takes the same values, ends that subscription alone and fails a second time', async () => {
  const key = { emitterId, listenerId: webhook.id, eventName: 'gone' };
  await subscriptions.create(who, key);
  const before = await listAll();
  await expect(subscriptions.delete(await world.account(), key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await subscriptions.delete(who, key);
  expect((await listAll()).length).toBe(before.length - 1);
  await expect(subscriptions.delete(who, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test("deleting a webhook ends its subscriptions and no other's", async () => {
  const doomed = await webhooks.create(who, { url: 'https://example.com/' });
  const before = await listAll();
  await subscriptions.create(who, { emitterId, listenerId: doomed.id });
  await subscriptions.create(who, { emitterId: 'dc_*', listenerId: doomed.id });
  await webhooks.delete(who, doomed.id);
  expect(await listAll()).toEqual(before);
});

test('a subscription that is made while its webhook is deleted never outlives it', async () => {
  for (let i = 0; i < 20; i++) {
    const doomed = await webhooks.create(who, { url: 'https://example.com/' });
    await Promise.allSettled([
      subscriptions.create(who, { emitterId, listenerId: doomed.id }),
      webhooks.delete(who, doomed.id),
    ]);
  }
  const orphans = await world.database.db.sql`
    select from subscriptions s where not exists (select from webhooks w where w.id = s.listener_id)`;
  expect(orphans.length).toBe(0);
});
