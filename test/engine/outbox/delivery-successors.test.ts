import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal, WebhookCreate } from '../../../engine/src/contract/engine.ts';
import { deleteEvents } from '../../../engine/src/observe/search/delete-events.sql.ts';
import { claimDeliveries } from '../../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { claimGoverned } from '../../../engine/src/outbox/deliveries/claim-governed.sql.ts';
import { cancelDeliveries } from '../../../engine/src/outbox/deliveries/cancel-deliveries.sql.ts';
import { recordAttempts, type Successors } from '../../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';

let world: DeliveryWorld;
let who: Principal;

beforeEach(async () => {
  world = await createDeliveryWorld();
  who = await world.account();
});
afterEach(() => world.stop());

const NODE = 'node_a';

/** Deliveries of two keys: the first of each is this node's, the others wait for it. */
async function inOrder(settings: Partial<WebhookCreate> = {}) {
  const { sql } = world.database.db;
  const webhook = await world.webhook(who, { url: 'http://127.0.0.1:2/', ordering: 'fifo', ...settings });
  const due = await world.emit(webhook, who, 6, null);
  const ids = due.map(({ id }) => id) as [string, string, string, string, string, string];
  await sql`
    update deliveries d set order_key = 'k' || mod(d.seq - ${due[0]?.seq ?? 0}::int4, 2),
      next_attempt_at = case when d.id = any(${ids.slice(0, 2)}::text[]) then now() else 'infinity' end,
      leased_by = case when d.id = any(${ids.slice(0, 2)}::text[]) then ${NODE} end
    where webhook_id = ${webhook.id}`;
  const record = async (id: string, successors: Successors) => {
    const item = { accountId: who.accountId, webhookId: webhook.id, id, settings: { wakesLane: true as const } };
    const attempt = { at: new Date().toISOString(), status_code: 200, duration_ms: 1 };
    await recordAttempts(sql, NODE, [{ item, attempt, status: 'delivered' }], successors);
    return successors.taken.map((taken) => taken.id);
  };
  const row = async (id: string) => (await world.rows(webhook.id)).find((one) => one.id === id);
  return { webhook, due, ids, record, row };
}

const taking = (mayTake = true): Successors => ({ mayTake: () => mayTake, taken: [] });

test('the record of one in order leases the next of its key, and no job is needed for it', async () => {
  const { webhook, ids, record, row } = await inOrder();
  expect(await record(ids[0], taking())).toEqual([ids[2]]);
  expect(await row(ids[2])).toMatchObject({ status: 'pending', leased_by: NODE });
  expect((await row(ids[2]))?.due_in_seconds).toBeLessThanOrEqual(0);
  // The rest of this key waits for it, and the other key for its own first one.
  for (const id of [ids[3], ids[4], ids[5]]) expect(await row(id)).toMatchObject({ leased_by: null });
  expect(await world.jobKeys()).not.toContain(`deliver:${webhook.id}:now`);
});

test.each<[why: string, settings: Partial<WebhookCreate>, mayTake: boolean]>([
  ['the node has no room', {}, false],
  ['it has a rate', { ratePerSecond: 5 }, true],
  ['its attempts at the same time are bounded', { maxInFlight: 2 }, true],
  ['its rate adapts', { adaptiveRate: true }, true],
])('if %s, the next one is due, and its lane is queued', async (_, settings, mayTake) => {
  const { webhook, ids, record, row } = await inOrder(settings);
  expect(await record(ids[0], taking(mayTake))).toEqual([]);
  expect(await row(ids[2])).toMatchObject({ status: 'pending', leased_by: null });
  expect((await row(ids[2]))?.due_in_seconds).toBeLessThanOrEqual(0);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});

test('a next one whose event was deleted is cancelled, and the one after it is due', async () => {
  const { webhook, ids, record, row } = await inOrder();
  await world.database.db.sql`
    delete from events e using deliveries d where d.id = ${ids[2]}
      and e.emitter_id = d.emitter_id and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq`;
  expect(await record(ids[0], taking())).toEqual([]);
  expect(await row(ids[2])).toMatchObject({ status: 'cancelled', leased_by: null });
  expect((await row(ids[4]))?.due_in_seconds).toBeLessThanOrEqual(0);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});

test('a webhook that was stopped meanwhile leases nothing', async () => {
  const { webhook, ids, record, row } = await inOrder();
  await world.database.db.sql`update webhooks set active = false where id = ${webhook.id}`;
  expect(await record(ids[0], taking())).toEqual([]);
  expect(await row(ids[2])).toMatchObject({ status: 'pending', leased_by: null });
});

test.each<[why: string, leasedBy: string | null]>([
  ['waits', null],
  ['is in flight on a node that dies', NODE],
])('a discard of a delivery that %s releases the later ones behind it', async (_, leasedBy) => {
  const { sql } = world.database.db;
  const { webhook, ids, row } = await inOrder();
  await sql`update deliveries set leased_by = ${leasedBy} where id = any(${ids.slice(0, 2)}::text[])`;
  await sql`update deliveries set created_at = now() + interval '1 minute' where id = any(${ids.slice(2)}::text[])`;
  const discard = { accountId: who.accountId, webhookId: webhook.id, reason: 'It was discarded', maxMs: 10_000 };
  expect(await cancelDeliveries(sql, discard, (work) => work())).toEqual({ count: 2 });
  for (const id of [ids[2], ids[3]]) expect((await row(id))?.due_in_seconds).toBeLessThanOrEqual(0);
  for (const id of [ids[4], ids[5]]) expect((await row(id))?.due_in_seconds).toBe(Number.POSITIVE_INFINITY);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});

test.each<[why: string, leasedBy: string | null]>([
  ['waits', null],
  ['is in flight', NODE],
])('when the event of a delivery that %s is deleted, a crash leaves nothing parked behind it', async (_, leasedBy) => {
  const { sql } = world.database.db;
  const { webhook, due, ids, row } = await inOrder();
  await sql`update deliveries set leased_by = ${leasedBy} where id = any(${ids.slice(0, 2)}::text[])`;
  const at = { ms: due[0]!.indexedAtMs, seq: due[0]!.seq };
  const remove = () => deleteEvents(sql, who.accountId, due[0]!.emitterId, { start: at, end: at });
  await sql.unsafe(`
    create function die() returns trigger language plpgsql as $$ begin raise 'crashed' using errcode = '53100'; end $$;
    create trigger die before insert on graphile_worker._private_jobs for each statement execute function die();`);
  await expect(remove()).rejects.toThrow('crashed');
  await sql`drop function die cascade`;
  await remove();
  expect(await row(ids[0])).toMatchObject({ status: 'cancelled', leased_by: null });
  expect((await row(ids[2]))?.due_in_seconds).toBeLessThanOrEqual(0);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});

test('a delivery that was claimed while its webhook had no order lets go of those parked behind it since', async () => {
  const { sql } = world.database.db;
  const { webhook, ids, row } = await inOrder();
  await sql`update webhooks set ordering = 'none' where id = ${webhook.id}`;
  await sql`update deliveries set leased_by = null where webhook_id = ${webhook.id}`;
  const claimed = await claimDeliveries(sql, NODE, webhook.id, 2);
  expect(claimed.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  await sql`update webhooks set ordering = 'fifo' where id = ${webhook.id}`;
  await sql`insert into nodes (id, role) values (${NODE}, 'all')`;
  await sql`update deliveries set next_attempt_at = now() where webhook_id = ${webhook.id} and leased_by is null`;
  expect(await claimGoverned(sql, NODE, webhook.id, 10)).toEqual([]);
  expect((await row(ids[2]))?.due_in_seconds).toBe(Number.POSITIVE_INFINITY);
  const attempt = { at: new Date().toISOString(), status_code: 200, duration_ms: 1 };
  await recordAttempts(sql, NODE, [{ item: claimed[0]!, attempt, status: 'delivered' }], taking(false));
  expect((await row(ids[2]))?.due_in_seconds).toBeLessThanOrEqual(0);
  expect(await world.jobKeys()).toContain(`deliver:${webhook.id}:now`);
});
