import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { requeueStalledDeliveries } from '../../../engine/src/cluster/requeue.sql.ts';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { createFailurePace } from '../../../engine/src/outbox/failure-pace.ts';
import { createLanes } from '../../../engine/src/outbox/lanes.ts';
import type { ActiveTenants } from '../../../shared/src/index.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeadwater } from '../../support/headwater.ts';
import { fc } from '../../support/properties.ts';
import { startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
beforeAll(async () => {
  world = await createDeliveryWorld();
});
afterAll(() => world.stop());

const besideOthers: ActiveTenants = {
  saw: () => undefined,
  hasSeveral: () => true,
  hasLightOther: () => true,
  mustGiveWay: () => false,
};
const PUBLISH_EVERY_MS = 20;
/** Retried at once, more often than a test takes. */
const retry = { scheduleSeconds: Array.from({ length: 200 }, () => 0), jitter: 0 };

const item = (webhookId: string, id: string, accountId = 'o') => ({ accountId, webhookId, id }) as DueDelivery;
const wide = { maxPerLane: 100, maxPerTenant: () => 100, maxHeldPerLane: 1_000, maxPerTurn: () => 1_000 };

test('when no more may fail, webhooks that have answered go on, and unknown ones come before failing ones', () => {
  let mayFail = true;
  const lanes = createLanes<DueDelivery>({ ...wide, mayFail: () => mayFail }, ({ webhookId }) => webhookId);
  const begin = (webhookId: string, ended: boolean) => {
    lanes.push(item(webhookId, webhookId));
    lanes.done(lanes.next()!, 'answered', ended);
  };
  begin('good', true);
  begin('dead', false);
  mayFail = false;
  for (const webhookId of ['dead', 'new', 'good', 'good']) lanes.push(item(webhookId, webhookId));
  expect([lanes.next()?.id, lanes.next()?.id, lanes.next()]).toEqual(['good', 'good', undefined]);
  mayFail = true;
  lanes.newTurn('o');
  expect([lanes.next()?.id, lanes.next()?.id]).toEqual(['new', 'dead']);
  expect(lanes.waiting()).toBe(0);
});

test('one refused event of a webhook that answers holds nothing back, and two in a row do', () => {
  const lanes = createLanes<DueDelivery>({ ...wide, mayFail: () => false }, ({ webhookId }) => webhookId);
  const trusts = () => lanes.isTrusted('wh');
  lanes.push(item('wh', 'first'));
  expect(lanes.next()).toBeUndefined();
  lanes.done(item('wh', 'of before'), 'answered', true);
  const seen = [trusts()];
  for (const isSuccess of [false, true, false, false, false]) {
    lanes.done(item('wh', 'of before'), 'answered', isSuccess);
    seen.push(trusts());
  }
  expect(seen).toEqual([true, true, true, true, false, false]);
});

test('a webhook that answers and refuses every other event holds up no new one', () => {
  const pace = createFailurePace({ activeTenants: besideOthers, mayStart: () => undefined });
  const lanes = createLanes<DueDelivery>({ ...wide, maxPerTurn: () => 1e6, ...pace }, ({ webhookId }) => webhookId);
  for (let n = 0; n < 20 * LIMITS.failedAttemptsPerSecond; n++) {
    lanes.push(item('choosy', String(n)));
    lanes.done(lanes.next()!, 'answered', n % 2 === 0);
  }
  lanes.push(item('new', 'first'));
  expect(lanes.next()?.id).toBe('first');
});

test('however many attempts fail that had begun together, the pace asks again within seconds', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const pace = createFailurePace({ activeTenants: besideOthers, mayStart: () => undefined });
    for (let n = 0; n < 1_000; n++) pace.failed('o', false);
    expect(pace.mayFail('o', 0, false, false)).toBe(false);
    vi.advanceTimersByTime(4_000);
    expect(pace.mayFail('o', 0, false, false)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('attempts that fail begin together, however often live webhooks of the account are asked for meanwhile', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const { failedAttemptsPerSecond: perSecond } = LIMITS;
    const pace = createFailurePace({ activeTenants: besideOthers, mayStart: () => undefined });
    const lanes = createLanes<DueDelivery>({ ...wide, maxPerTurn: () => 1e6, ...pace }, ({ webhookId }) => webhookId);
    const begun: number[] = [];
    for (let n = 0; n < 1_000; n++) lanes.push(item('dead', String(n)));
    for (let ms = 0; ms < 4_000; ms += 20) {
      lanes.push(item('live', String(ms)));
      for (let next = lanes.next(); next !== undefined; next = lanes.next()) {
        lanes.done(next, 'answered', next.webhookId === 'live');
        if (next.webhookId === 'dead') begun.push(ms);
      }
      vi.advanceTimersByTime(20);
    }
    // Each second has two turns.
    expect(new Set(begun).size).toBeLessThanOrEqual(10);
    expect(begun.length).toBeGreaterThanOrEqual(4 * perSecond);
    expect(begun.length).toBeLessThanOrEqual(6 * perSecond);
  } finally {
    vi.useRealTimers();
  }
});

test('a place for slow ones is not kept for a webhook that has to wait for the pace', () => {
  let mayFail = true;
  const limits = { ...wide, maxPerTenant: () => 2, mayFail: () => mayFail };
  const lanes = createLanes<DueDelivery>(limits, ({ webhookId }) => webhookId);
  const begin = (webhookId: string) => {
    lanes.push(item(webhookId, webhookId));
    return lanes.next()!;
  };
  for (const webhookId of ['slow', 'dead', 'good']) lanes.done(begin(webhookId), 'slow', webhookId !== 'dead');
  const first = begin('slow');
  lanes.push(item('dead', 'dead'));
  lanes.push(item('good', 'good'));
  mayFail = false;
  expect(lanes.next()).toBeUndefined();
  lanes.done(first, 'slow', true);
  expect(lanes.next()?.id).toBe('good');
});

test('under any failures no delivery is lost, and a tenant that may fail again begins all waiting ones', () => {
  const step = fc.record({
    kind: fc.constantFrom('push' as const, 'next' as const, 'done' as const, 'clear' as const, 'turn' as const),
    hook: fc.nat(3),
    isSuccess: fc.boolean(),
    isFailing: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      let mayFail = true;
      const failing = new Set<string>();
      const limits = { ...wide, mayFail: () => mayFail, maxDoubtful: () => ({ failing: 3, all: 5 }) };
      const lanes = createLanes<DueDelivery>(
        limits,
        ({ webhookId }) => webhookId,
        () => undefined,
        ({ webhookId }) => (failing.has(webhookId) ? 'fails' : undefined),
      );
      const inFlight: DueDelivery[] = [];
      let [pushed, left] = [0, 0];
      for (const { kind, hook, isSuccess, isFailing } of steps) {
        const webhookId = `wh_${hook}`;
        if (kind === 'push') {
          if (isFailing) failing.add(webhookId);
          else failing.delete(webhookId);
          lanes.push(item(webhookId, String(pushed++)));
        } else if (kind === 'next') {
          const next = lanes.next();
          if (next !== undefined) inFlight.push(next);
        } else if (kind === 'done') {
          const ended = inFlight.shift();
          if (ended !== undefined) left += 1 + lanes.done(ended, 'answered', isSuccess).length;
        } else if (kind === 'clear') left += lanes.clear(webhookId).length;
        else {
          mayFail = isSuccess;
          lanes.newTurn('o');
        }
      }
      mayFail = true;
      lanes.newTurn('o');
      for (let next = lanes.next(); next !== undefined; next = lanes.next()) inFlight.push(next);
      expect([lanes.waiting(), inFlight.length + left]).toEqual([0, pushed]);
    }),
  );
});

test('dead webhooks of an account are attempted at a pace, live ones at once, and a recovered one gets all', async () => {
  const receiver = await startReceiver();
  const port = await freePort();
  const who = await world.account();
  const webhooks = await Promise.all(
    Array.from({ length: 20 }, () => world.webhook(who, { url: `http://127.0.0.1:${port}/` })),
  );
  const live = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_failing', retry, activeTenants: besideOthers });
  const runner = await world.runLanes(deliverer);
  deliverer.take(await world.emit(live, who, 1, 'node_failing'));
  await eventually(() => deliverer.stats().delivered === 1);
  for (const webhook of webhooks) await world.emit(webhook, who, 10, null);
  const beganMs = performance.now();
  await deliverer.runAccountLane({ accountId: who.accountId });
  await eventually(() => deliverer.stats().retried > 2 * LIMITS.failedAttemptsPerSecond);
  const seconds = (performance.now() - beganMs) / 1_000;
  // Attempts that had begun when the first ones failed are beyond the pace.
  const most = LIMITS.failedAttemptsPerSecond * (seconds + 1) + LIMITS.maxDeliveriesPerWebhook;
  expect(deliverer.stats().retried).toBeLessThanOrEqual(most);

  // Those that wait leave room for one that answers.
  const again = await world.emit(live, who, 100, 'node_failing');
  const { retried } = deliverer.stats();
  const fromMs = performance.now();
  deliverer.take(again);
  await eventually(() => deliverer.stats().delivered === 101);
  const took = (performance.now() - fromMs) / 1_000;
  expect(deliverer.stats().retried - retried).toBeLessThan(LIMITS.failedAttemptsPerSecond * (took + 3));

  const back = await listen(port);
  await eventually(() => deliverer.stats().delivered === 301, { timeoutMs: 30_000 });
  // Put off is no attempt: each that was counted is recorded.
  for (const webhook of webhooks) {
    const rows = await world.rows(webhook.id);
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 'delivered'));
    expect(rows.map(({ attempts }) => attempts.length)).toEqual(rows.map((row) => row.attempt_count));
  }
  await runner.stop();
  await deliverer.stop();
  await receiver.stop();
  await new Promise((resolve) => void back.close(resolve));
});

test('a dead webhook of an account that is alone has the pace beside one that answers', async () => {
  const receiver = await startReceiver();
  const who = await world.account();
  const dead = await world.webhook(who, { url: `http://127.0.0.1:${await freePort()}/` });
  const live = await world.webhook(who, { url: receiver.url });
  const deliverer = world.deliverer({ node: 'node_own', retry });
  const runner = await world.runLanes(deliverer);
  const { failedAttemptsPerSecond: perSecond, maxDeliveriesPerWebhook: atOnce } = LIMITS;
  deliverer.take(await world.emit(live, who, 1, 'node_own'));
  await eventually(() => deliverer.stats().delivered === 1);
  const beganMs = performance.now();
  await world.emit(dead, who, 200, null);
  await deliverer.runLane({ webhookId: dead.id });
  for (let sent = 1; deliverer.stats().retried <= 3 * perSecond; sent++) {
    deliverer.take(await world.emit(live, who, 1, 'node_own'));
    await eventually(() => deliverer.stats().delivered === sent + 1);
    const seconds = (performance.now() - beganMs) / 1_000;
    // Attempts that had begun when the first ones failed are beyond the pace.
    expect(deliverer.stats().retried).toBeLessThanOrEqual(perSecond * (seconds + 1) + atOnce);
  }
  await runner.stop();
  await deliverer.stop();
  await receiver.stop();
});

test('a receiver that refuses most is held back by no failures of its own', () => {
  const alone: ActiveTenants = { ...besideOthers, hasSeveral: () => false };
  const pace = createFailurePace({ activeTenants: alone, mayStart: () => undefined });
  const lanes = createLanes<DueDelivery>({ ...wide, maxPerTurn: () => 1e6, ...pace }, ({ webhookId }) => webhookId);
  for (let n = 0; n < 20 * LIMITS.failedAttemptsPerSecond; n++) {
    lanes.push(item('choosy', String(n)));
    lanes.done(lanes.next()!, 'answered', n % 10 === 0);
  }
  expect(lanes.waiting()).toBe(0);
});

test('an account that only publishes has the pace of failures beside it', async () => {
  const hw = await startHeadwater();
  try {
    const other = await hw.newAccount();
    let isOver = false;
    // It is active before anything fails.
    await other.api('POST', '/events', { data: {} });
    const publishing = (async () => {
      for (; !isOver; await sleep(PUBLISH_EVERY_MS)) await other.api('POST', '/events', { data: {} });
    })();
    const { source_id: emitterId } = (await hw.api('POST', '/events', { data: {} })).data;
    const dead = (await hw.api('POST', '/webhooks', { url: `http://127.0.0.1:${await freePort()}/` })).data;
    await hw.api('POST', '/subscriptions', { emitter_id: emitterId, listener_id: dead.id });
    const beganMs = performance.now();
    const batch = { events: Array.from({ length: 100 }, () => ({ data: {} })) };
    for (let n = 0; n < 5; n++) expect((await hw.api('POST', '/events', batch)).status).toBe(200);
    const made = async () => {
      const [row] = await hw.sql<{ made: number }[]>`
        select sum(attempt_count)::int4 as made from deliveries where webhook_id = ${dead.id}`;
      return row?.made ?? 0;
    };
    await eventually(async () => (await made()) > 2 * LIMITS.failedAttemptsPerSecond);
    const attempts = await made();
    const seconds = (performance.now() - beganMs) / 1_000;
    // Attempts that had begun when the first ones failed are beyond the pace.
    const most = LIMITS.failedAttemptsPerSecond * (seconds + 1) + LIMITS.maxDeliveriesPerWebhook;
    isOver = true;
    await publishing;
    expect(attempts).toBeLessThanOrEqual(most);
  } finally {
    await hw.stop();
  }
});

test('one that is alone on a node is held back by no failures', async () => {
  const who = await world.account();
  const dead = await world.webhook(who, { url: `http://127.0.0.1:${await freePort()}/` });
  const deliverer = world.deliverer({ node: 'node_alone', retry: { scheduleSeconds: [3_600] } });
  const count = 4 * LIMITS.failedAttemptsPerSecond;
  deliverer.take(await world.emit(dead, who, count, 'node_alone'));
  await eventually(() => deliverer.stats().retried === count);
  expect(deliverer.capacity({ accountId: who.accountId, webhookId: dead.id })).toBeGreaterThan(count);
  await deliverer.stop();
});

test('fifty dead webhooks whose turn has not come are brought up by one job', async () => {
  const { sql } = world.database.db;
  const who = await world.account();
  const ids = await deadWebhooks(who, 50);
  await sql`update deliveries set next_attempt_at = now() - interval '2 minutes' where webhook_id = any(${ids})`;
  expect(await requeueStalledDeliveries(sql, 60_000)).toBe(50);
  expect(await keysOf([who.accountId, ...ids])).toEqual([`deliver:${who.accountId}:now`]);
});

test('the lane of a webhook that fails leaves its turn to that of its account, except after a retry by hand', async () => {
  const who = await world.account();
  const [dead = ''] = await deadWebhooks(who, 1);
  const { sql } = world.database.db;
  await sql`update webhooks set failing_since = now() where id = ${dead}`;
  const deliverer = world.deliverer({
    node: 'node_turns',
    retry: { scheduleSeconds: [3_600] },
    activeTenants: besideOthers,
  });
  await deliverer.runLane({ webhookId: dead });
  expect(deliverer.stats()).toMatchObject({ held: 0, inFlight: 0, recording: 0, retried: 0 });
  expect(await keysOf([who.accountId, dead])).toEqual([`deliver:${who.accountId}:now`]);
  await eventually(() => deliverer.capacity({ accountId: who.accountId, webhookId: dead }) > 0);
  await deliverer.runLane({ webhookId: dead, byHand: true });
  await eventually(() => deliverer.stats().retried === 1);
  await deliverer.stop();
});

test('a webhook that fails here and is claimed as one that works elsewhere is no longer among those that fail', async () => {
  const who = await world.account();
  const webhook = await world.webhook(who, { url: `http://127.0.0.1:${await freePort()}/` });
  const options = { retry: { scheduleSeconds: [3_600] }, activeTenants: besideOthers };
  const deliverer = world.deliverer({ node: 'node_news', ...options });
  const place = { accountId: who.accountId, webhookId: webhook.id };
  deliverer.take(await world.emit(webhook, who, LIMITS.failedAttemptsPerSecond, 'node_news'));
  await eventually(() => deliverer.stats().retried === LIMITS.failedAttemptsPerSecond);
  const before = deliverer.sharedCapacity(place);
  deliverer.take(await world.emit(webhook, who, 1, 'node_news'));
  expect(deliverer.sharedCapacity(place)).toBeGreaterThan(before);
  await deliverer.stop();
});

test('a retry by hand of one that fails does not wait behind all that fail', async () => {
  const who = await world.account();
  const dead = await world.webhook(who, { url: `http://127.0.0.1:${await freePort()}/` });
  const deliverer = world.deliverer({
    node: 'node_hand',
    retry: { scheduleSeconds: [3_600] },
    activeTenants: besideOthers,
  });
  const place = { accountId: who.accountId, webhookId: dead.id };
  deliverer.take(await world.emit(dead, who, 2 * LIMITS.failedAttemptsPerSecond, 'node_hand'));
  await eventually(() => deliverer.stats().retried > LIMITS.failedAttemptsPerSecond);
  const before = deliverer.capacity(place);
  // As each node does that hears of it.
  await deliverer.giveBack(dead.id);
  expect(deliverer.capacity(place)).toBeGreaterThan(before);
  await deliverer.stop();
});

/** Each with one delivery that waits for any node. */
async function deadWebhooks(who: Principal, count: number): Promise<string[]> {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const webhooks = await Promise.all(Array.from({ length: count }, () => world.webhook(who, { url })));
  for (const webhook of webhooks) await world.emit(webhook, who, 1, null);
  return webhooks.map(({ id }) => id);
}

async function keysOf(ids: readonly string[]): Promise<string[]> {
  const keys = await world.jobKeys();
  return keys.filter((key) => ids.some((id) => key.startsWith(`deliver:${id}:`)));
}

async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function listen(port: number): Promise<Server> {
  const server = createServer((request, response) => void request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return server;
}
