import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal, WebhookRecord, Webhooks } from '../../../engine/src/contract/engine.ts';
import type { Deliverer } from '../../../engine/src/outbox/deliveries/deliverer.ts';
import type { DueDelivery } from '../../../engine/src/outbox/deliveries/due-delivery.ts';
import { messageId } from '../../../engine/src/outbox/transports/webhook/sign.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { roomWith } from '../../support/account-room.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const NODE = 'node_a';
const HELD = 300;
const DATA = '"12345678"';

let world: DeliveryWorld;
let receiver: Receiver;
let elsewhere: Receiver;
let who: Principal;

beforeEach(async () => {
  world = await createDeliveryWorld();
  [receiver, elsewhere] = await Promise.all([startReceiver(), startReceiver()]);
  who = await world.account();
});
afterEach(async () => {
  await Promise.all([receiver.stop(), elsewhere.stop()]);
  await world.stop();
});

interface Node {
  deliverer: Deliverer;
  webhooks: Webhooks;
  webhook: WebhookRecord;
  due: DueDelivery[];
  /** Attempts, those under way included. */
  begun(): number;
}

/** It holds HELD deliveries for a slow receiver, and has begun a few. */
async function slowNode(maxPerWebhook: number, count = HELD): Promise<Node> {
  let ended = 0;
  const deliverer = world.deliverer({
    node: NODE,
    limits: { maxPerWebhook, maxHeldBytes: HELD * DATA.length },
    onAttempt: () => ended++,
  });
  const { db } = world.database;
  const webhooks = createWebhooks({ db, sealer: world.sealer, room: roomWith(), giveBack: deliverer.giveBack });
  const webhook = await world.webhook(who, { url: receiver.url });
  receiver.answer = { delayMs: 100 };
  const due = await world.emit(webhook, who, count, NODE, { data: DATA });
  deliverer.take(due);
  if (count > 0) await receiver.until(2 * maxPerWebhook);
  return { deliverer, webhooks, webhook, due, begun: () => ended + deliverer.stats().inFlight };
}

async function isIdle({ deliverer }: Node): Promise<void> {
  const { held, inFlight, recording } = deliverer.stats();
  expect(held).toBe(0);
  if (inFlight + recording > 0) await eventually(() => deliverer.stats().inFlight + deliverer.stats().recording === 0);
}

const ids = (...of: Receiver[]) => of.flatMap(({ requests }) => requests.map(({ headers }) => headers['webhook-id']));
const idsOf = (due: readonly DueDelivery[]) =>
  due.map(({ emitterId, indexedAtMs, seq }) => messageId(emitterId, indexedAtMs, seq));

test.each([
  ['stopped', 'pending', ({ webhooks, webhook }: Node) => webhooks.update(who, webhook.id, { active: false })],
  ['deleted', 'cancelled', ({ webhooks, webhook }: Node) => webhooks.delete(who, webhook.id)],
])('no held delivery begins once the answer says that the webhook is %s', async (_, left, end) => {
  const node = await slowNode(4);
  const { deliverer, webhook, due } = node;
  expect(deliverer.stats().held).toBeGreaterThan(HELD / 2);
  await end(node);
  const begun = node.begun();
  await isIdle(node);
  expect([node.begun(), receiver.requests.length]).toEqual([begun, begun]);
  const rows = await world.rows(webhook.id);
  const unbegun = rows.filter(({ status }) => status === left);
  expect(unbegun).toHaveLength(HELD - begun);
  for (const { leased_by, attempt_count, attempts } of unbegun) {
    expect([leased_by, attempt_count, attempts.length]).toEqual([null, 0, left === 'cancelled' ? 1 : 0]);
  }
  // Attempts under way have an outcome, and the node has its whole capacity again.
  expect(rows.filter(({ status, leased_by }) => status === 'delivered' && leased_by === null)).toHaveLength(begun);
  expect(deliverer.capacity()).toBe(LIMITS.maxHeldDeliveries);
  expect(due.filter(({ id }) => deliverer.holds(id))).toEqual([]);
});

test('with another URL the rest goes there at once, each once and in its order, and nothing more to the old one', async () => {
  const node = await slowNode(1, 100);
  const { deliverer, webhooks, webhook, due } = node;
  await world.runLanes(deliverer);
  await webhooks.update(who, webhook.id, { url: `${elsewhere.url}/new` });
  const begun = node.begun();
  await elsewhere.until(due.length - begun);
  await eventually(async () => (await world.rows(webhook.id)).every(({ status }) => status === 'delivered'));
  await isIdle(node);
  expect(receiver.requests).toHaveLength(begun);
  expect(ids(receiver, elsewhere)).toEqual(idsOf(due));
  expect((await world.rows(webhook.id)).every(({ attempt_count }) => attempt_count === 1)).toBe(true);
});

test('another format holds for held deliveries, and another name leaves them alone', async () => {
  const node = await slowNode(1, 60);
  const { deliverer, webhooks, webhook } = node;
  const jobs = () => world.jobKeys();
  await webhooks.update(who, webhook.id, { name: 'renamed', active: true });
  expect([deliverer.stats().held > 40, await jobs()]).toEqual([true, []]);
  receiver.answer = {};
  await webhooks.update(who, webhook.id, { format: 'envelope' });
  const begun = node.begun();
  await world.runLanes(deliverer);
  await receiver.until(60);
  const formats = receiver.requests.map(({ body }) => (body === DATA ? 'raw' : 'envelope'));
  expect(formats).toEqual([...Array<string>(begun).fill('raw'), ...Array<string>(60 - begun).fill('envelope')]);
});

test('deliveries read before a change are given back, and those read after it are sent', async () => {
  const { deliverer, webhook } = await slowNode(1, 0);
  const other = await world.webhook(who, { url: receiver.url });
  const readAt = deliverer.heard();
  const old = await world.emit(webhook, who, 3, NODE);
  await deliverer.giveBack(webhook.id);
  deliverer.take([...old, ...(await world.emit(other, who, 1, NODE))], readAt);
  await eventually(async () => (await world.rows(webhook.id)).every(({ leased_by }) => leased_by === null));
  await eventually(async () => (await world.rows(other.id)).every(({ status }) => status === 'delivered'));
  expect(await world.jobKeys()).toEqual([`deliver:${webhook.id}:now`]);
  expect([receiver.requests.length, deliverer.stats().held]).toEqual([1, 0]);
  deliverer.take(await world.emit(webhook, who, 1, NODE), deliverer.heard());
  await receiver.until(2);
});

test('a batch that was being claimed while the URL changed goes to the new one', async () => {
  const { deliverer, webhooks, webhook } = await slowNode(32, 0);
  await world.emit(webhook, who, LIMITS.deliveryLaneBatch, null);
  let claiming: Promise<void> | undefined;
  await world.database.db.sql.begin(async (tx) => {
    // The claim has read the URL when it adds a job for the rest.
    await tx`lock table graphile_worker._private_jobs in share mode`;
    claiming = deliverer.runLane({ webhookId: webhook.id });
    await eventually(async () => (await blockedBy(tx)).length > 0);
    await webhooks.update(who, webhook.id, { url: elsewhere.url });
  });
  await claiming;
  await world.runLanes(deliverer);
  await elsewhere.until(LIMITS.deliveryLaneBatch);
  expect(receiver.requests).toEqual([]);
});

test('a retry that waits in the database goes to the URL that the webhook has by then', async () => {
  const { deliverer, webhooks, webhook } = await slowNode(1, 0);
  receiver.answer = { status: 503 };
  deliverer.take(await world.emit(webhook, who, 1, NODE));
  await eventually(async () => (await world.rows(webhook.id))[0]?.attempt_count === 1);
  await webhooks.update(who, webhook.id, { url: elsewhere.url });
  await world.database.db.sql`update deliveries set next_attempt_at = now()`;
  await deliverer.runLane({ webhookId: webhook.id });
  await elsewhere.until(1);
  expect(receiver.requests).toHaveLength(1);
});

test('deliveries cancelled before the node hears of it lose their lease, and can be sent again', async () => {
  const node = await slowNode(4);
  const { deliverer, webhook } = node;
  const { db } = world.database;
  await db.sql`insert into nodes (id, role) values (${NODE}, 'all')`;
  const through = createWebhooks({ db, sealer: world.sealer, room: roomWith() });
  await through.discard(who, webhook.id);
  await deliverer.giveBack(webhook.id);
  await isIdle(node);
  const begun = node.begun();
  const rows = await world.rows(webhook.id);
  expect(rows.filter(({ status, leased_by }) => status === 'cancelled' && leased_by === null)).toHaveLength(
    HELD - begun,
  );
  expect(await world.jobKeys()).toEqual([]);
  const cancelled = rows.find(({ status }) => status === 'cancelled');
  expect(await through.redeliver(who, webhook.id, cancelled?.id)).toBe(1);
  await deliverer.runLane({ webhookId: webhook.id });
  await receiver.until(begun + 1);
});

test('if any webhook may have changed, all held deliveries are read anew', async () => {
  const node = await slowNode(1, 50);
  const { deliverer, webhook, due } = node;
  const sql = world.database.db.sql;
  // As of a change by another node, of which this one did not hear.
  await sql`update webhooks set url = ${elsewhere.url} where id = ${webhook.id}`;
  await deliverer.giveBack();
  const begun = node.begun();
  await world.runLanes(deliverer);
  await elsewhere.until(due.length - begun);
  expect(ids(receiver, elsewhere)).toEqual(idsOf(due));
});
