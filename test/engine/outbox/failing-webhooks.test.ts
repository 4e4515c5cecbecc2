import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { createLanes } from '../../../engine/src/outbox/lanes.ts';
import type { ActiveTenants } from '../../../shared/src/index.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
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
/** Retried at once, more often than a test takes. */
const retry = { scheduleSeconds: Array.from({ length: 200 }, () => 0), jitter: 0 };

const item = (webhookId: string, id: string, accountId = 'o') => ({ accountId, webhookId, id }) as DueDelivery;
const wide = { maxPerLane: 100, maxPerTenant: () => 100, maxHeldPerLane: 1_000, maxPerTurn: () => 1_000 };

test('where no more may fail, webhooks that have answered go on, and unknown ones come before those that fail', () => {
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

test('one refused event of a webhook that answers holds nothing back, and three in a row do', () => {
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

test('whatever fails, nothing is lost, and a tenant that may fail again begins all that waits', () => {
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

test('dead webhooks of an account are attempted at a pace beside others, its live ones at once, and who is back gets all', async () => {
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
  const { retried } = deliverer.stats();
  deliverer.take(await world.emit(live, who, 100, 'node_failing'));
  await eventually(() => deliverer.stats().delivered === 101);
  expect(deliverer.stats().retried - retried).toBeLessThan(200);

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
