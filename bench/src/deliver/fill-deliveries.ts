import { newId } from '@headwater/shared';
import type { Sql } from '../../../engine/src/db/database.ts';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { lanesOfWaiting } from '../../../engine/src/outbox/deliveries/deliver-lane.ts';

export interface Target {
  accountId: string;
  webhookIds: readonly string[];
  /** Number of ordering keys of its deliveries. Absent: the deliveries are unordered. */
  keys?: number;
}

const BATCH = 5_000;

export const orderKeyOfCase = (nth: number) => `key ${nth}`;

/** Pending deliveries as a commit leaves them for which no node has room, without jobs. */
export async function fillDeliveries(
  sql: Sql,
  { accountId, webhookIds, keys }: Target,
  bodies: readonly string[],
): Promise<void> {
  const [emitterId, nowMs] = [newId('source'), Date.now()];
  for (let first = 0; first < bodies.length; first += BATCH) {
    const numbers = bodies.slice(first, first + BATCH).map((_, i) => first + i);
    const data = numbers.map((n) => bodies[n] as string);
    await sql`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
      select ${emitterId}, ${nowMs}::int8, n, ${accountId}, '', data
      from unnest(${numbers}::int4[], ${data}::text[]) as e(n, data)`;
    await sql`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, order_key)
      select id, ${accountId}, webhook_id, ${emitterId}, ${nowMs}::int8, n, order_key from unnest(
        ${numbers.map(() => newId('delivery', nowMs))}::text[],
        ${numbers.map((n) => webhookIds[n % webhookIds.length] as string)}::text[], ${numbers}::int4[],
        ${numbers.map((n) => (keys === undefined ? null : orderKeyOfCase(n % keys)))}::text[]
      ) as d(id, webhook_id, n, order_key)`;
  }
}

export async function startDelivering(sql: Sql, { accountId, webhookIds }: Target): Promise<void> {
  await addJobs(sql, lanesOfWaiting(webhookIds.map((webhookId) => ({ accountId, webhookId }))));
}
