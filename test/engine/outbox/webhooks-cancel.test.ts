import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Principal, WebhookRecord, Webhooks } from '../../../engine/src/contract/engine.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { cancelDeliveries } from '../../../engine/src/outbox/deliveries/cancel-deliveries.sql.ts';
import { orderHeld } from '../../../engine/src/outbox/deliveries/order-held.sql.ts';
import { releaseParked } from '../../../engine/src/outbox/deliveries/release-parked.sql.ts';
import { releaseJob, workOffBacklog } from '../../../engine/src/outbox/deliveries/webhook-backlog.ts';
import { claimDeliveries } from '../../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { roomWith } from '../../support/account-room.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type WatchedTransactions, watchTransactions } from '../../support/watch-transactions.ts';

/** As in cancel-deliveries.ts. */
const CANCEL_BATCH = 2_000;
/** As in order-held.sql.ts and release-parked.sql.ts. */
const LOOKED_AT = 2_000;

let world: DeliveryWorld;
let sql: DeliveryWorld['database']['db']['sql'];
let webhooks: Webhooks;
let who: Principal;
let webhook: WebhookRecord;
let updates: WatchedTransactions;

beforeAll(async () => {
  world = await createDeliveryWorld();
  ({ sql } = world.database.db);
  webhooks = createWebhooks({ db: world.database.db, sealer: world.sealer, room: roomWith() });
  who = await world.account();
  updates = await watchTransactions(sql, 'deliveries', 'update');
});
afterAll(() => world.stop());
beforeEach(async () => {
  webhook = await webhooks.create(who, { url: 'https://example.com/hook' });
  await updates.forget();
});

const discard = () => webhooks.discard(who, webhook.id);
const remove = () => webhooks.delete(who, webhook.id);

/** How many of its deliveries are in each status, by whether a node has them. */
async function states(): Promise<Record<string, number>> {
  const rows = Map.groupBy(await world.rows(webhook.id), (row) => `${row.status}${row.leased_by ? ' leased' : ''}`);
  return Object.fromEntries([...rows].map(([state, of]) => [state, of.length]));
}

test.each([
  ['discarded', 'It was discarded', discard],
  ['of a webhook that is deleted', 'The webhook was deleted', remove],
])('a backlog that is %s is cancelled in short transactions', async (_, reason, end) => {
  await world.emit(webhook, who, CANCEL_BATCH + 500, null);
  await world.emit(webhook, who, CANCEL_BATCH + 300, 'node_a');
  await end();
  expect(await states()).toEqual({ cancelled: CANCEL_BATCH + 500, 'cancelled leased': CANCEL_BATCH + 300 });
  const notes = new Set(
    (await world.rows(webhook.id)).map(({ attempts }) => attempts.map(({ error }) => error).join()),
  );
  expect(notes).toEqual(new Set([reason]));
  expect(await updates.rows()).toEqual([CANCEL_BATCH, CANCEL_BATCH, 500, 300]);
});

test.each([
  ['A discard', discard],
  ['A deletion', remove],
])('%s waits for no lock, and deliveries locked meanwhile are cancelled after', async (_, end) => {
  const [held, released] = await world.emit(webhook, who, 10, 'node_a');
  await world.emit(webhook, who, 10, null);
  let ended: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    // As an attempt is recorded that has to be made again.
    await tx`update deliveries set leased_by = null where webhook_id = ${webhook.id} and id = ${released!.id}`;
    await tx`select from deliveries where webhook_id = ${webhook.id} and id = ${held!.id} for update`;
    ended = end();
    await eventually(async () => (await states())['cancelled'] === 10);
    await eventually(async () => (await states())['cancelled leased'] === 8);
    expect(await blockedBy(tx)).toEqual([]);
  });
  await ended;
  expect(await states()).toEqual({ cancelled: 11, 'cancelled leased': 9 });
});

test('so many discards of an account are under way, and the next is refused before it has cancelled anything', async () => {
  const most = LIMITS.maxDeletionsPerTenant;
  const [held] = await world.emit(webhook, who, 1, null);
  let under: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    // A discard waits for rows that another transaction has locked.
    await tx`select from deliveries where webhook_id = ${webhook.id} and id = ${held!.id} for update`;
    under = Promise.allSettled(Array.from({ length: most }, discard));
    await expect(discard()).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      limit: { name: 'maxDeletionsPerTenant', value: most, used: most + 1 },
    });
    expect(await states()).toEqual({ pending: 1 });
  });
  await under;
  expect(await discard()).toBe(0);
});

test('deliveries made while the backlog is discarded stay', async () => {
  const [held] = await world.emit(webhook, who, 1, 'node_a');
  let discarding: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from deliveries where webhook_id = ${webhook.id} and id = ${held!.id} for update`;
    await world.emit(webhook, who, 1, null);
    discarding = discard();
    await eventually(async () => (await states())['cancelled'] === 1);
    await world.emit(webhook, who, 1, null);
  });
  await discarding;
  expect(await states()).toEqual({ cancelled: 1, 'cancelled leased': 1, pending: 1 });
});

test('if the database fails during the deletion of a webhook, the rest is cancelled as it is claimed', async () => {
  await world.emit(webhook, who, CANCEL_BATCH + 10, null);
  await sql.unsafe(`
    create sequence updates;
    create function fail_second() returns trigger language plpgsql as $$ begin
      if nextval('updates') = 2 then raise 'no more' using errcode = '53100'; end if;
      return null;
    end $$;
    create trigger fail_second after update on deliveries for each statement execute function fail_second();`);
  try {
    await expect(remove()).rejects.toThrow('no more');
    expect(await states()).toEqual({ cancelled: CANCEL_BATCH, pending: 10 });
    expect(await claimDeliveries(sql, 'node_b', webhook.id, LIMITS.deliveryLaneBatch)).toEqual([]);
    expect(await states()).toEqual({ cancelled: CANCEL_BATCH + 10 });
  } finally {
    await sql`drop function fail_second cascade`;
    await sql`drop sequence updates`;
  }
});

test('cancellations beyond the time of a request are left to a job, and newer deliveries stay', async () => {
  await world.emit(webhook, who, 2 * CANCEL_BATCH + 10, null);
  const cancel = { accountId: who.accountId, webhookId: webhook.id, reason: 'It was discarded' };
  const { count, until = '' } = await cancelDeliveries(sql, { ...cancel, maxMs: 0 }, (work) => work());
  expect(count).toBe(CANCEL_BATCH);
  await world.emit(webhook, who, 3, null);
  await eventually(async () => {
    await workOffBacklog(sql, { ...cancel, act: 'cancel', until });
    return (await states())['pending'] === 3;
  });
  expect(await states()).toEqual({ cancelled: 2 * CANCEL_BATCH + 10, pending: 3 });
  expect(await updates.rows()).toEqual([CANCEL_BATCH, CANCEL_BATCH, 10]);
});

test('deliveries that wait behind their key are made due by a job in short transactions, each once', async () => {
  await world.emit(webhook, who, LOOKED_AT + 500, null);
  await sql`
    update deliveries set order_key = seq % 7, next_attempt_at = 'infinity' where webhook_id = ${webhook.id}`;
  await updates.forget();
  await webhooks.update(who, webhook.id, { ordering: 'none' });
  const job = releaseJob(who.accountId, webhook.id);
  expect(await sql`select from graphile_worker._private_jobs where key = ${job.key}`).toHaveLength(1);
  const parked = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int4 as count from deliveries where webhook_id = ${webhook.id} and next_attempt_at = 'infinity'`;
    return row?.count;
  };
  expect(await parked()).toBe(LOOKED_AT + 500);
  const { after: first } = job.payload as { after: Parameters<typeof releaseParked>[2]['after'] };
  const after = await releaseParked(sql, webhook.id, { after: first, maxMs: 0 });
  expect(await parked()).toBe(500);
  if (after === undefined) throw new Error('Nothing was left');
  // A claim of an ordered webhook parks some of them again.
  await sql`
    update deliveries set next_attempt_at = 'infinity'
    where (webhook_id, id) in (select webhook_id, id from deliveries where webhook_id = ${webhook.id} and order_key = '0' limit 3)`;
  await workOffBacklog(sql, { accountId: who.accountId, webhookId: webhook.id, act: 'release', after });
  expect(await parked()).toBe(3);
  expect(await updates.rows()).toEqual([LOOKED_AT, 500, 3]);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});

test('deliveries that a request has no time to order are left to a job', async () => {
  await world.emit(webhook, who, LOOKED_AT + 500, null);
  await sql`
    update deliveries set attempts = '[{}]', next_attempt_at = now() + interval '1 hour' where webhook_id = ${webhook.id}`;
  const order = { accountId: who.accountId, webhookId: webhook.id };
  const after = await orderHeld(sql, order.accountId, order.webhookId, { maxMs: 0 });
  if (after === undefined) throw new Error('Nothing was left');
  const due = async () => (await world.rows(webhook.id)).filter(({ due_in_seconds: seconds }) => seconds <= 0).length;
  expect(await due()).toBe(LOOKED_AT);
  await eventually(async () => {
    await workOffBacklog(sql, { ...order, act: 'order', after });
    return (await due()) === LOOKED_AT + 500;
  });
});
