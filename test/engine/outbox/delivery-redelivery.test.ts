import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import type { Principal, Webhooks } from '../../../engine/src/contract/engine.ts';
import { createWebhooks } from '../../../engine/src/outbox/webhooks/webhooks.ts';
import { roomWith } from '../../support/account-room.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let world: DeliveryWorld;
let receiver: Receiver;
let who: Principal;
let webhooks: Webhooks;

beforeEach(async () => {
  world = await createDeliveryWorld();
  receiver = await startReceiver();
  who = await world.account();
  webhooks = createWebhooks({ db: world.database.db, sealer: world.sealer, room: roomWith() });
  await world.runLanes(world.deliverer({ node: 'node_a', retry: { scheduleSeconds: [] } }));
});
afterEach(async () => {
  await receiver.stop();
  await world.stop();
});

const ids = () => receiver.requests.map((request) => request.headers['webhook-id']);

async function until(webhookId: string, status: string) {
  return eventually(async () => {
    const rows = await world.rows(webhookId);
    return rows.length > 0 && rows.every((row) => row.status === status && row.leased_by === null) && rows;
  });
}

async function failedWebhook(count: number) {
  const webhook = await world.webhook(who, { url: receiver.url });
  await world.emit(webhook, who, count, null);
  receiver.answer = { status: 500 };
  await world.deliverer({ node: 'node_b', retry: { scheduleSeconds: [] } }).runLane({ webhookId: webhook.id });
  const rows = await until(webhook.id, 'failed');
  receiver.answer = { status: 200 };
  return { webhook, rows };
}

test('failed deliveries are sent again with their ids, and keep their attempts', async () => {
  const { webhook } = await failedWebhook(3);
  const before = new Set(ids());
  expect(await webhooks.redeliver(who, webhook.id)).toBe(3);
  const rows = await until(webhook.id, 'delivered');
  expect(rows.map(({ attempts }) => attempts.map((attempt) => attempt.status_code))).toEqual([
    [500, 200],
    [500, 200],
    [500, 200],
  ]);
  expect(new Set(ids())).toEqual(before);
  expect(receiver.requests.at(-1)?.headers['headwater-attempt']).toBe('1');
  expect(await webhooks.redeliver(who, webhook.id)).toBe(0);
});

test('one delivery can be named, also one that was delivered, and no other goes out', async () => {
  const { webhook, rows } = await failedWebhook(2);
  const [one] = rows;
  for (const times of [1, 2]) {
    expect(await webhooks.redeliver(who, webhook.id, one?.id)).toBe(1);
    await eventually(async () => {
      const [row] = await world.rows(webhook.id);
      return row?.status === 'delivered' && row.attempts.length === times + 1;
    });
  }
  expect((await world.rows(webhook.id)).map(({ status }) => status)).toEqual(['delivered', 'failed']);
});

test('a delivery that cannot be sent is refused with the reason, and one of another account is not found', async () => {
  const { webhook, rows } = await failedWebhook(1);
  const other = await world.account();
  const id = rows[0]?.id ?? '';
  await expect(webhooks.redeliver(other, webhook.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(webhooks.redeliver(who, webhook.id, 'dlv_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await webhooks.update(who, webhook.id, { active: false });
  await expect(webhooks.redeliver(who, webhook.id)).rejects.toThrow('is stopped');
  await webhooks.update(who, webhook.id, { active: true });
  await world.database.db.sql`delete from events where account_id = ${who.accountId}`;
  await expect(webhooks.redeliver(who, webhook.id, id)).rejects.toThrow('is of an event that was deleted');
  expect(await webhooks.redeliver(who, webhook.id)).toBe(0);
  await world.database.db.sql`update deliveries set status = 'pending', next_attempt_at = now() + interval '1 hour'
    where id = ${id}`;
  await expect(webhooks.redeliver(who, webhook.id, id)).rejects.toThrow('has not ended yet');
});

test('a delivery sent again and again keeps its newest attempts', async () => {
  const { webhook, rows } = await failedWebhook(1);
  const [one] = rows;
  const many = JSON.stringify(Array(LIMITS.maxKeptDeliveryAttempts).fill(one?.attempts[0]));
  await world.database.db.sql`update deliveries set attempts = ${many}::text::jsonb where id = ${one?.id ?? ''}`;
  expect(await webhooks.redeliver(who, webhook.id)).toBe(1);
  const [row] = await until(webhook.id, 'delivered');
  expect(row?.attempts).toHaveLength(LIMITS.maxKeptDeliveryAttempts);
  expect(row?.attempts.at(-1)?.status_code).toBe(200);
});

test('a delivery cancelled under a node that is gone is sent again', async () => {
  const { webhook, rows } = await failedWebhook(1);
  const id = rows[0]?.id ?? '';
  await world.database.db.sql`update deliveries set status = 'cancelled', leased_by = 'node_gone' where id = ${id}`;
  expect(await webhooks.redeliver(who, webhook.id, id)).toBe(1);
  await until(webhook.id, 'delivered');
});
