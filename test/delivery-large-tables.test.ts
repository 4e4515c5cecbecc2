import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDeliveries } from '../engine/src/store/claim-deliveries.ts';
import { type AttemptResult, recordAttempts } from '../engine/src/store/record-attempts.ts';
import { createDeliveryWorld, type DeliveryWorld } from './support/delivery-world.ts';

let world: DeliveryWorld;
beforeAll(async () => {
  // One connection, so that the statements that were prepared on the small table are the ones used on the large.
  world = await createDeliveryWorld({ maxConnections: 1 });
});
afterAll(() => world.stop());

const ROWS = 100_000;
/** A plan made for the small table takes seconds here, the right one a few milliseconds. */
const MAX_MS = 500;

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedMs };
}

test('recording and claiming stay quick on a table that grew before its statistics did', async () => {
  const { sql } = world.database.db;
  await sql`alter table deliveries set (autovacuum_enabled = false)`;
  const who = await world.account();
  const webhook = await world.webhook(who, { url: 'https://example.com/' });
  const attempt = { at: new Date().toISOString(), status_code: 200, duration_ms: 1 };
  const record = async (count: number) => {
    const due = await world.emit(webhook, who, count, 'node_a');
    const results = due.map((delivery): AttemptResult => {
      return { webhookId: webhook.id, deliveryId: delivery.id, status: 'delivered', attempt };
    });
    return timed(() => recordAttempts(sql, 'node_a', results));
  };
  const claim = async () => {
    await world.emit(webhook, who, 64, null);
    await sql`update deliveries set next_attempt_at = now() - interval '2 hours' where leased_by is null and status = 'pending'
      and next_attempt_at > now() - interval '1 minute' and seq >= 0`;
    return timed(() => claimDeliveries(sql, 'node_b', webhook.id, 64));
  };
  for (let i = 0; i < 8; i++) await record(3);
  for (let i = 0; i < 8; i++) await claim();
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, leased_by, next_attempt_at)
    select 'dlv_' || g, ${who.accountId}, ${webhook.id}, 'dc_x', 1, -1, case when g % 2 = 0 then 'node_a' end,
      now() - interval '1 hour' + g * interval '1 millisecond'
    from generate_series(1, ${ROWS}::int) g`;
  const recorded = await record(64);
  expect(recorded.result.every(Boolean)).toBe(true);
  expect(recorded.ms).toBeLessThan(MAX_MS);
  const claimed = await claim();
  expect(claimed.result.length).toBe(64);
  expect(claimed.ms).toBeLessThan(MAX_MS);
});
