import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { claimDeliveries } from '../../../engine/src/outbox/deliveries/claim-deliveries.sql.ts';
import { deleteEvents } from '../../../engine/src/observe/search/delete-events.sql.ts';
import { recordAttempts } from '../../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import { releaseDeliveries } from '../../../engine/src/outbox/deliveries/release-deliveries.sql.ts';
import { requeueStalledDeliveries } from '../../../engine/src/cluster/requeue.sql.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
let receiver: Receiver;
let who: Principal;

beforeEach(async () => {
  world = await createDeliveryWorld();
  receiver = await startReceiver();
  who = await world.account();
});
afterEach(async () => {
  await receiver.stop();
  await world.stop();
});

const ids = () => receiver.requests.map((request) => request.headers['webhook-id']);

async function allAre(webhookId: string, status: string) {
  return eventually(async () => {
    const rows = await world.rows(webhookId);
    return rows.length > 0 && rows.every((row) => row.status === status && row.leased_by === null) && rows;
  });
}

test('two nodes that work on one lane deliver everything, and nothing twice', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const nodes = [world.deliverer({ node: 'node_a' }), world.deliverer({ node: 'node_b' })];
  await world.emit(webhook, who, 500, null);
  for (let turn = 0; turn < 8; turn++) {
    await Promise.all(nodes.map((node) => node.runLane({ webhookId: webhook.id })));
  }
  await allAre(webhook.id, 'delivered');
  expect(receiver.requests.length).toBe(500);
  expect(new Set(ids()).size).toBe(500);
  expect(nodes.every((node) => node.stats().delivered > 0)).toBe(true);
});

test('a lane that is worked on by jobs alone delivers a backlog and its retries to the end', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_a', retry: { scheduleSeconds: [0.1, 0.2] } });
  await world.emit(webhook, who, 200, 'node_dead');
  receiver.answer = (request) => ({ status: request.headers['headwater-attempt'] === '3' ? 200 : 500 });
  await world.runLanes(deliverer);
  expect(await releaseDeliveries(world.database.db.sql, 'node_dead')).toBe(200);
  const rows = await allAre(webhook.id, 'delivered');
  expect(rows.every((row) => row.attempt_count === 3)).toBe(true);
  expect(rows[0]?.attempts.map((attempt) => attempt.status_code)).toEqual([500, 500, 200]);
  const seen = Map.groupBy(receiver.requests, (request) => request.headers['webhook-id']);
  expect(seen.size).toBe(200);
  for (const attempts of seen.values()) {
    expect(attempts.map((request) => request.headers['headwater-attempt'])).toEqual(['1', '2', '3']);
  }
});

test('after the last attempt of the schedule the delivery has failed and no job is left for it', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_a', retry: { scheduleSeconds: [0.05] } });
  receiver.answer = { status: 500 };
  await world.runLanes(deliverer);
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  const [row] = await allAre(webhook.id, 'failed');
  expect(row?.attempts.length).toBe(2);
  await eventually(async () => (await world.jobKeys()).length === 0);
  expect(receiver.requests.length).toBe(2);
});

test('a node that lost its lease records nothing, and the node that has it does', async () => {
  const { sql } = world.database.db;
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = { delayMs: 200 };
  const slow = world.deliverer({ node: 'node_slow' });
  const due = await world.emit(webhook, who, 1, 'node_slow');
  slow.take(due);
  await receiver.until(1);
  await releaseDeliveries(sql, 'node_slow');
  const claimed = await claimDeliveries(sql, 'node_other', webhook.id, 10);
  expect(claimed.map((delivery) => delivery.id)).toEqual([due[0]?.id]);
  await eventually(() => slow.stats().lost === 1);
  const [row] = await world.rows(webhook.id);
  expect(row).toMatchObject({ status: 'pending', attempt_count: 0, leased_by: 'node_other' });
  const attempt = { at: new Date().toISOString(), status_code: 200, duration_ms: 1 };
  const keys = { item: { accountId: who.accountId, webhookId: webhook.id, id: due[0]!.id } };
  const result = { ...keys, status: 'delivered' as const, attempt };
  expect(await recordAttempts(sql, 'node_other', [result])).toEqual([true]);
  expect(await recordAttempts(sql, 'node_other', [result])).toEqual([false]);
});

test('a delivery that is claimed has what its first attempt had', async () => {
  const webhook = await world.webhook(who, { url: receiver.url, format: 'envelope' });
  const due = await world.emit(webhook, who, 3, null, { channel: 'named', ts: 5 });
  const claimed = await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 10);
  expect(claimed).toEqual(due);
});

test('a delivery that is not due, leased, or of another webhook is not claimed', async () => {
  const { sql } = world.database.db;
  const [webhook, other] = [
    await world.webhook(who, { url: receiver.url }),
    await world.webhook(who, { url: receiver.url }),
  ];
  const [later] = await world.emit(webhook, who, 1, null);
  await sql`update deliveries set next_attempt_at = now() + interval '1 hour' where id = ${later!.id}`;
  await world.emit(webhook, who, 1, 'node_b');
  await world.emit(other, who, 1, null);
  const [due] = await world.emit(webhook, who, 1, null);
  const claimed = await claimDeliveries(sql, 'node_a', webhook.id, 10);
  expect(claimed.map((delivery) => delivery.id)).toEqual([due?.id]);
});

test('a full batch leaves a job for the rest', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  await world.emit(webhook, who, 5, null);
  await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 6);
  expect(await world.jobKeys()).toEqual([]);
  await world.emit(webhook, who, 5, null);
  await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 5);
  expect(await world.jobKeys()).toEqual([`deliver:${webhook.id}:now`]);
});

test('a claim ends once its events are large together, however large one is, and leaves a job for the rest', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const data = JSON.stringify('x'.repeat(0.4 * LIMITS.maxClaimBytes));
  await world.emit(webhook, who, 4, null, { data });
  await world.emit(webhook, who, 1, null, { data: JSON.stringify('x'.repeat(3 * LIMITS.maxClaimBytes)) });
  await world.emit(webhook, who, 1, null);
  const counts: number[] = [];
  const seqs: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await world.database.db.sql`delete from graphile_worker._private_jobs`;
    const claimed = await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 64);
    counts.push(claimed.length);
    seqs.push(...claimed.map(({ seq }) => seq));
    expect(await world.jobKeys()).toEqual(turn < 2 ? [`deliver:${webhook.id}:now`] : []);
  }
  expect(counts).toEqual([3, 2, 1, 0]);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
});

test('stop lets attempts in flight finish and releases the rest, with a job for them', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = { delayMs: 150 };
  const deliverer = world.deliverer({ node: 'node_a', limits: { maxPerWebhook: 4 } });
  deliverer.take(await world.emit(webhook, who, 20, 'node_a'));
  await receiver.until(4);
  await deliverer.stop();
  const rows = await world.rows(webhook.id);
  expect(rows.filter((row) => row.status === 'delivered').length).toBe(4);
  expect(
    rows.filter((row) => row.status === 'pending' && row.leased_by === null && row.attempt_count === 0).length,
  ).toBe(16);
  expect(receiver.requests.length).toBe(4);
  expect(await world.jobKeys()).toEqual([`deliver:${webhook.id}:now`]);
  expect(deliverer.capacity()).toBe(0);
});

test('stop cuts off what does not finish in time, and counts it for nothing', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = { delayMs: 60_000 };
  const deliverer = world.deliverer({ node: 'node_a', limits: { drainMs: 50 } });
  deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
  await receiver.until(1);
  await deliverer.stop();
  const [row] = await world.rows(webhook.id);
  expect(row).toMatchObject({ status: 'pending', attempt_count: 0, attempts: [], leased_by: null });
});

test('a delivery taken after stop is released again', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_a' });
  await deliverer.stop();
  deliverer.take(await world.emit(webhook, who, 2, 'node_a'));
  await eventually(async () => (await world.rows(webhook.id)).every((row) => row.leased_by === null));
  expect(receiver.requests).toEqual([]);
});

test('a lane without room on this node comes back later and leases nothing', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  await world.emit(webhook, who, 3, null);
  const deliverer = world.deliverer({ node: 'node_a', limits: { maxHeld: 0 } });
  await deliverer.runLane({ webhookId: webhook.id });
  expect((await world.rows(webhook.id)).every((row) => row.leased_by === null)).toBe(true);
  const [job] = await world.database.db.sql<
    { waits: boolean }[]
  >`select run_at > now() as waits from graphile_worker.jobs`;
  expect(job?.waits).toBe(true);
});

test('deliveries whose job was lost get one again, and those that just became due do not', async () => {
  const { sql } = world.database.db;
  const [old, fresh] = [
    await world.webhook(who, { url: receiver.url }),
    await world.webhook(who, { url: receiver.url }),
  ];
  await world.emit(old, who, 2, null);
  await sql`update deliveries set next_attempt_at = now() - interval '2 minutes'`;
  await world.emit(fresh, who, 2, null);
  await world.emit(old, who, 1, 'node_b');
  expect(await requeueStalledDeliveries(sql, 60_000)).toBe(1);
  expect(await world.jobKeys()).toEqual([`deliver:${old.id}:now`]);
});

test('a delivery whose event was deleted is cancelled with a note when its turn comes', async () => {
  const webhook = await world.webhook(who, { url: receiver.url });
  const [kept, gone] = await world.emit(webhook, who, 2, null);
  await world.database.db.sql`delete from events where seq = ${gone!.seq}`;
  const claimed = await claimDeliveries(world.database.db.sql, 'node_a', webhook.id, 10);
  expect(claimed.map((delivery) => delivery.id)).toEqual([kept?.id]);
  const row = (await world.rows(webhook.id)).find(({ id }) => id === gone?.id);
  expect(row).toMatchObject({ status: 'cancelled', leased_by: null, attempt_count: 0 });
  expect(row?.attempts[0]?.error).toMatch(/event was deleted/);
});

test('with its events deleted, only their due deliveries are cancelled, held by a node or not', async () => {
  const { sql } = world.database.db;
  const webhook = await world.webhook(who, { url: receiver.url });
  const [first, held, later] = await world.emit(webhook, who, 3, null);
  const [other] = await world.emit(webhook, who, 1, null);
  await sql`update deliveries set leased_by = 'node_a' where id = ${held!.id}`;
  const [start, end] = [first!, held!].map(({ indexedAtMs: ms, seq }) => ({ ms, seq }));
  await deleteEvents(sql, who.accountId, first!.emitterId, { start: start!, end: end! });
  const states = new Map((await world.rows(webhook.id)).map((row) => [row.id, [row.status, row.leased_by]]));
  for (const one of [first, held]) expect(states.get(one!.id)).toEqual(['cancelled', null]);
  for (const one of [later, other]) expect(states.get(one!.id)).toEqual(['pending', null]);
});

test('deleting events waits for no attempt that is being recorded, and neither ends the other', async () => {
  const { sql } = world.database.db;
  const webhook = await world.webhook(who, { url: receiver.url });
  const [first, second] = await world.emit(webhook, who, 2, 'node_a');
  const position = ({ indexedAtMs: ms, seq }: typeof first & object) => ({ ms, seq });
  const range = { start: position(first!), end: position(second!) };
  let deleting: Promise<void> = Promise.resolve();
  await sql.begin(async (tx) => {
    // Attempts that ended in another order than that of their rows.
    await tx`update deliveries set status = 'delivered', leased_by = null where id = ${second!.id}`;
    deleting = deleteEvents(sql, who.accountId, first!.emitterId, range);
    let isDone = false;
    void Promise.allSettled([deleting]).then(() => (isDone = true));
    await eventually(async () => isDone || (await blockedBy(tx)).length > 0);
    await tx`update deliveries set status = 'delivered', leased_by = null where id = ${first!.id} and leased_by = 'node_a'`;
  });
  await deleting;
  const states = new Map((await world.rows(webhook.id)).map((row) => [row.id, row.status]));
  expect([states.get(first!.id), states.get(second!.id)]).toEqual(['cancelled', 'delivered']);
});

test('while the database does not answer, outcomes wait and are recorded once it does', async () => {
  const { sql } = world.database.db;
  const webhook = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_a' });
  const due = await world.emit(webhook, who, 5, 'node_a');
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = sql.begin(async (tx) => {
    await tx`lock table deliveries in access exclusive mode`;
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  deliverer.take(due);
  await receiver.until(5);
  await eventually(() => deliverer.stats().recording === 5);
  over.resolve();
  await locking;
  await allAre(webhook.id, 'delivered');
  expect(receiver.requests.length).toBe(5);
});

test('batches are planned for the tables as they are, not as they were when the connection was young', async () => {
  const [setting] = await world.database.db.sql<{ plan_cache_mode: string }[]>`show plan_cache_mode`;
  expect(setting?.plan_cache_mode).toBe('force_custom_plan');
});
