import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fc } from '../../support/properties.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { createLanes } from '../../../engine/src/outbox/lanes.ts';
import { createSender, type OutgoingShare } from '../../../engine/src/outbox/sender.ts';
import { createActiveTenants, LIMITS, type ActiveTenants } from '../../../shared/src/index.ts';
import { createDeliveryWorld, type DeliveryWorld, limitsOf } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
beforeAll(async () => {
  world = await createDeliveryWorld();
});
afterAll(() => world.stop());

const delivery = (accountId: string, webhookId: string, id: string) =>
  ({ accountId, webhookId, id, data: '1' }) as DueDelivery;
const webhookOf = ({ webhookId }: DueDelivery) => webhookId;
const wide = { maxPerLane: 100, maxPerTenant: () => 100, maxHeldPerLane: 1_000, maxPerTurn: () => 1_000 };

test('tenants take turns, and webhooks within a tenant, each in its own order', () => {
  const lanes = createLanes(wide, webhookOf);
  for (let i = 0; i < 6; i++) lanes.push(delivery('big', 'wh_1', `1-${i}`));
  lanes.push(delivery('big', 'wh_2', '2-0'));
  lanes.push(delivery('small', 'wh_3', '3-0'));
  const order = Array.from({ length: 8 }, () => lanes.next()?.id);
  expect(order).toEqual(['1-0', '3-0', '2-0', '1-1', '1-2', '1-3', '1-4', '1-5']);
  expect(lanes.next()).toBeUndefined();
});

test('limits hold and no delivery is lost or invented in any order of starts and ends', () => {
  const limits = { maxPerLane: 3, maxPerTenant: () => 5, maxHeldPerLane: 1_000, maxPerTurn: () => 4 };
  const step = fc.oneof(
    fc.record({ kind: fc.constant('new turn' as const) }),
    fc.record({ kind: fc.constant('push' as const), tenant: fc.nat(2), hook: fc.nat(2) }),
    fc.record({ kind: fc.constant('next' as const) }),
    fc.record({ kind: fc.constant('done' as const), pick: fc.nat(), timeout: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const lanes = createLanes(limits, webhookOf);
      const inFlight: DueDelivery[] = [];
      let pushed = 0;
      let left = 0;
      const widest = { webhook: 0, tenant: 0, turn: 0 };
      let turn: string[] = [];
      const count = (key: 'accountId' | 'webhookId', value: string) => inFlight.filter((d) => d[key] === value).length;
      for (const [i, action] of steps.entries()) {
        if (action.kind === 'push') {
          const webhookId = `wh_${action.tenant}_${action.hook}`;
          lanes.push(delivery(`o_${action.tenant}`, webhookId, String(i)));
          pushed++;
        } else if (action.kind === 'new turn') {
          lanes.newTurn();
          turn = [];
        } else if (action.kind === 'next') {
          const next = lanes.next();
          if (next === undefined) continue;
          inFlight.push(next);
          turn.push(next.accountId);
          widest.turn = Math.max(widest.turn, turn.filter((id) => id === next.accountId).length);
          widest.webhook = Math.max(widest.webhook, count('webhookId', next.webhookId));
          widest.tenant = Math.max(widest.tenant, count('accountId', next.accountId));
        } else if (inFlight.length > 0) {
          const [ended] = inFlight.splice(action.pick % inFlight.length, 1);
          left += 1 + lanes.done(ended!, action.timeout ? 'timeout' : 'answered').length;
        }
      }
      expect(widest.webhook).toBeLessThanOrEqual(limits.maxPerLane);
      expect(widest.tenant).toBeLessThanOrEqual(limits.maxPerTenant());
      expect(widest.turn).toBeLessThanOrEqual(limits.maxPerTurn());
      expect(lanes.waiting() + inFlight.length + left).toBe(pushed);
      // With everything in flight ended, all that waits can start sooner or later: no lane is
      // forgotten.
      for (;;) {
        if (lanes.isTurnOver()) lanes.newTurn();
        for (const ended of inFlight.splice(0)) left += 1 + lanes.done(ended, 'answered').length;
        for (let next = lanes.next(); next !== undefined; next = lanes.next()) inFlight.push(next);
        if (inFlight.length === 0) break;
      }
      expect([lanes.waiting(), left]).toEqual([0, pushed]);
    }),
  );
});

test('a heavy tenant begins two attempts in each turn, light ones more, and a single one as many as it may', async () => {
  const big = Array.from({ length: 6 }, (_, i) => delivery('big', 'wh_1', String(i)));
  const alone = recordingSender();
  alone.sender.push(big);
  expect(alone.started).toHaveLength(6);
  const { sender, started } = recordingSender({ ...someone, mustGiveWay: (tenant) => tenant === 'big' });
  sender.push([delivery('small', 'wh_2', '0'), ...big, delivery('small', 'wh_2', '1'), delivery('small', 'wh_2', '2')]);
  expect(started.toSorted()).toEqual(['big', 'big', 'small', 'small', 'small']);
  const counts = new Set<number>();
  await eventually(() => counts.add(started.length).has(9), { everyMs: 0 });
  expect([...counts].filter((count) => count % 2 === 0)).toEqual([]);
});

test('two with much have no pauses for each other', () => {
  const activeTenants = createActiveTenants();
  for (const tenant of ['one', 'two']) activeTenants.saw(tenant, performance.now(), 100);
  const { sender, started } = recordingSender(activeTenants);
  const much = ['one', 'two'].flatMap((tenant) =>
    Array.from({ length: 40 }, (_, i) => delivery(tenant, `wh_${tenant}`, String(i))),
  );
  sender.push(much);
  const [ones, twos] = ['one', 'two'].map((tenant) => started.filter((one) => one === tenant).length);
  expect([ones, twos]).toEqual([16, 16]);
});

test('a tenant is there for as long as attempts of it begin, also where the others come limitTimeShare', async () => {
  const seen: string[] = [];
  const activeTenants = { ...someone, saw: (tenant: string) => void seen.push(tenant) };
  const { sender, started } = recordingSender(activeTenants);
  sender.push(Array.from({ length: 6 }, (_, i) => delivery('big', 'wh_1', String(i))));
  const atPush = seen.length;
  await eventually(() => started.length === 6);
  expect(seen.length).toBeGreaterThanOrEqual(atPush + 4);
});

test('beside others large ones of a tenant begin at a pace, and small ones of others meanwhile', async () => {
  const { sender, started } = recordingSender(someone);
  // Half a second each.
  const data = 'x'.repeat(LIMITS.smallSendChars + LIMITS.sendCharsPerSecond / 2);
  sender.push(Array.from({ length: 3 }, (_, i) => ({ ...delivery('big', 'wh_1', String(i)), data })));
  sender.push(Array.from({ length: 6 }, (_, i) => delivery('small', 'wh_2', String(i))));
  await eventually(() => started.filter((tenant) => tenant === 'small').length === 6);
  const begunMs = performance.now();
  expect(started.filter((tenant) => tenant === 'big').length).toBeLessThan(3);
  await eventually(() => started.filter((tenant) => tenant === 'big').length === 3);
  expect(performance.now() - begunMs).toBeGreaterThan(100);
});

test('a single tenant sends large deliveries at once', () => {
  const { sender, started } = recordingSender();
  const data = 'x'.repeat(LIMITS.sendCharsPerSecond);
  sender.push(Array.from({ length: 5 }, (_, i) => ({ ...delivery('big', 'wh_1', String(i)), data })));
  expect(started).toHaveLength(5);
});

test('a tenant begins attempts at its rate, and saves up ten seconds of it', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  try {
    const { sender, started } = recordingSender(createActiveTenants(), () => ({ maxAtOnce: 100, perSecond: 2 }));
    const hasStarted = () => started.filter((tenant) => tenant === 'slow').length;
    expect(sender.soon('slow')).toBe(24);
    sender.push(Array.from({ length: 60 }, (_, i) => delivery('slow', 'wh_1', String(i))));
    sender.push([delivery('other', 'wh_2', 'a')]);
    expect([hasStarted(), started.at(-1), sender.soon('slow')]).toEqual([21, 'other', 0]);
    for (const [seconds, expected] of [
      [5, 31],
      [1, 33],
      [0.4, 33],
      [0.1, 34],
    ] as const) {
      vi.advanceTimersByTime(seconds * 1_000);
      expect([seconds, hasStarted()]).toEqual([seconds, expected]);
    }
  } finally {
    vi.useRealTimers();
  }
});

test('nothing of a tenant begins before its share is known', () => {
  const known = new Map<string, OutgoingShare>();
  const { sender, started } = recordingSender(createActiveTenants(), (tenantId) => known.get(tenantId));
  sender.push(Array.from({ length: 5 }, (_, i) => delivery('new', 'wh_1', String(i))));
  expect(started).toEqual([]);
  known.set('new', { maxAtOnce: 3, perSecond: 100 });
  sender.shareKnown('new');
  expect(started).toHaveLength(3);
});

test('a node takes no more of a tenant than it may begin soon, and sends all of it at that pace', async () => {
  const receiver = await startReceiver();
  const who = await world.account();
  const webhook = await world.webhook(who, { url: receiver.url });
  const accountLimits = limitsOf({ maxDeliveriesPerSecond: 5 });
  const deliverer = world.deliverer({ node: 'node_paced', accountLimits });
  const place = { accountId: who.accountId, webhookId: webhook.id };
  expect(deliverer.capacity(place)).toBe(60);
  deliverer.take(await world.emit(webhook, who, 60, 'node_paced'));
  const begunMs = performance.now();
  expect(deliverer.capacity(place)).toBeLessThan(10);
  await eventually(() => deliverer.stats().delivered === 60);
  // Fifty were saved up.
  expect(performance.now() - begunMs).toBeGreaterThan(1_500);
  await deliverer.stop();
  await receiver.stop();
});

const someone: ActiveTenants = {
  saw: () => undefined,
  hasSeveral: () => true,
  hasLightOther: () => true,
  mustGiveWay: () => true,
};

/** Its attempts do not end. `started`: their tenants. */
function recordingSender(
  activeTenants = createActiveTenants(),
  shareOf: (tenantId: string) => OutgoingShare | undefined = () => ({ maxAtOnce: 100, perSecond: 10_000 }),
) {
  const started: string[] = [];
  const sender = createSender<DueDelivery, unknown>({
    attempt: ({ accountId }) => {
      started.push(accountId);
      return { done: new Promise(() => undefined), abort: () => undefined };
    },
    laneIdOf: webhookOf,
    charsOf: ({ data }) => data.length,
    limits: { maxPerLane: 100, maxHeldPerLane: 1_000, maxInFlight: 100 },
    shareOf,
    onEnd: () => undefined,
    onShed: () => undefined,
    activeTenants,
  });
  return { sender, started };
}

test('timeouts narrow a webhook to one attempt at a time and release its held ones, and answers widen it again', () => {
  const lanes = createLanes(
    { maxPerLane: 8, maxPerTenant: () => 100, maxHeldPerLane: 100, maxPerTurn: () => 1_000 },
    webhookOf,
  );
  for (let i = 0; i < 100; i++) lanes.push(delivery('o', 'wh', String(i)));
  expect(lanes.room('wh', 'o')).toBe(0);
  const first = Array.from({ length: 8 }, () => lanes.next()!);
  expect(lanes.next()).toBeUndefined();
  const shed = first.flatMap((ended) => lanes.done(ended, 'timeout'));
  expect([shed.length, lanes.waiting()]).toEqual([91, 1]);
  for (let i = 0; i < 9; i++) lanes.push(delivery('o', 'wh', `more ${i}`));
  const probe = lanes.next();
  expect(probe).toBeDefined();
  expect(lanes.next()).toBeUndefined();
  lanes.done(probe!, 'answered');
  expect([lanes.next(), lanes.next()]).not.toContain(undefined);
  expect(lanes.next()).toBeUndefined();
});

test('lanes that are slow have half of their tenant’s attempts together, the others the rest', () => {
  const limits = { maxPerLane: 4, maxPerTenant: () => 8, maxHeldPerLane: 100, maxPerTurn: () => 1_000 };
  const lanes = createLanes(limits, webhookOf);
  const push = (hook: string, count: number) => {
    for (let i = 0; i < count; i++) lanes.push(delivery('o', hook, `${hook}-${i}`));
  };
  const start = () => {
    const started: DueDelivery[] = [];
    for (let next = lanes.next(); next !== undefined; next = lanes.next()) started.push(next);
    return started;
  };
  for (const hook of ['a', 'b', 'c']) push(hook, 20);
  const first = start();
  expect(first).toHaveLength(8);
  for (const ended of first) lanes.done(ended, 'slow');
  // All are slow: four, of eight.
  const slow = start();
  expect(slow).toHaveLength(4);
  push('quick', 6);
  expect(start().map(webhookOf)).toEqual(['quick', 'quick', 'quick', 'quick']);
  // One that answers in time is slow no more.
  lanes.done(slow[0]!, 'answered');
  expect(start().map(webhookOf)).toEqual([slow[0]!.webhookId]);
  for (const ended of slow.slice(1)) lanes.done(ended, 'slow');
  expect(start().length).toBeGreaterThan(0);
});

test('a webhook whose receiver is slow leaves room for its account’s others', async () => {
  const receiver = await startReceiver();
  receiver.answer = { delayMs: 60_000 };
  const who = await world.account();
  const [slow, other] = [
    await world.webhook(who, { url: receiver.url }),
    await world.webhook(who, { url: receiver.url }),
  ];
  const deliverer = world.deliverer({ node: 'node_share', limits: { drainMs: 10 } });
  const roomOf = (webhookId: string) => deliverer.capacity({ accountId: who.accountId, webhookId });
  // As its lane does while there is a backlog.
  for (let turns = 0; turns < 20 && roomOf(slow.id) > 0; turns++)
    deliverer.take(await world.emit(slow, who, Math.min(200, roomOf(slow.id)), 'node_share'));
  expect(roomOf(slow.id)).toBe(0);
  expect(roomOf(other.id)).toBeGreaterThan(LIMITS.maxHeldDeliveries / 10);
  await deliverer.stop();
  await receiver.stop();
});

test('a tenant whose receivers hang does not hold up another tenant', async () => {
  const hanging = createServer(() => undefined);
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const receiver = await startReceiver();
  const [slow, fast] = [await world.account(), await world.account()];
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
  const limits = { maxInFlight: 20, maxPerWebhook: 5, drainMs: 10 };
  const deliverer = world.deliverer({
    node: 'node_a',
    limits,
    accountLimits: limitsOf({ maxDeliveryConnections: 10 }),
  });
  for (let i = 0; i < 4; i++) {
    deliverer.take(await world.emit(await world.webhook(slow, { url }), slow, 50, 'node_a'));
  }
  await eventually(() => deliverer.stats().inFlight === 10);
  const webhook = await world.webhook(fast, { url: receiver.url });
  deliverer.take(await world.emit(webhook, fast, 200, 'node_a'));
  await eventually(() => deliverer.stats().delivered === 200);
  expect(deliverer.stats().inFlight).toBe(10);
  await deliverer.stop();
  await receiver.stop();
  await new Promise<void>((resolve) => {
    hanging.close(() => resolve());
    hanging.closeAllConnections();
  });
});

test('a node holds no more than its bounds, in number and in bytes', async () => {
  const receiver = await startReceiver();
  receiver.answer = { delayMs: 60_000 };
  const who = await world.account();
  const webhook = await world.webhook(who, { url: receiver.url });
  const limits = { maxHeld: 12, maxHeldPerWebhook: 6, maxHeldBytes: 1_000, drainMs: 10 };
  const deliverer = world.deliverer({ node: 'node_b', limits });
  const place = { accountId: who.accountId, webhookId: webhook.id };
  expect([deliverer.capacity(), deliverer.capacity(place)]).toEqual([12, 3]);
  deliverer.take(await world.emit(webhook, who, 8, 'node_b'));
  await expect.poll(() => [deliverer.capacity(), deliverer.capacity(place)]).toEqual([6, 0]);
  await eventually(async () => (await world.rows(webhook.id)).filter((row) => row.leased_by === null).length === 2);
  const other = await world.webhook(who, { url: receiver.url });
  deliverer.take(await world.emit(other, who, 1, 'node_b', { data: JSON.stringify('x'.repeat(1_000)) }));
  expect(deliverer.capacity()).toBe(0);
  await deliverer.stop();
  await receiver.stop();
});

test('a tenant with a full backlog for many webhooks leaves another as much room as it has taken', async () => {
  const receiver = await startReceiver();
  receiver.answer = { delayMs: 60_000 };
  const [busy, quiet] = [await world.account(), await world.account()];
  const limits = { maxHeld: 40, maxHeldPerWebhook: 15, maxHeldBytes: 100_000, drainMs: 10 };
  const deliverer = world.deliverer({ node: 'node_c', limits });
  for (let hooks = 0; hooks < 6; hooks++) {
    const webhook = await world.webhook(busy, { url: receiver.url });
    const room = deliverer.capacity({ accountId: busy.accountId, webhookId: webhook.id });
    if (room > 0) deliverer.take(await world.emit(webhook, busy, room, 'node_c'));
  }
  const another = await world.webhook(busy, { url: receiver.url });
  expect(deliverer.capacity({ accountId: busy.accountId, webhookId: another.id })).toBe(0);
  expect(deliverer.capacity()).toBe(20);
  const own = await world.webhook(quiet, { url: receiver.url });
  expect(deliverer.capacity({ accountId: quiet.accountId, webhookId: own.id })).toBe(5);
  await deliverer.stop();
  await receiver.stop();
});
