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
/** The database makes the rows itself: a batch is no message. */
const BATCH_OF_OLD = 50_000;
const DAY_MS = 86_400_000;
/** Ids begin with their time, as those of the engine do: as many different ones. */
const ID_TIMES = 1_000;
/** Characters of `dlv_` and the time. */
const ID_FLOOR_CHARS = 13;

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

interface OldDeliveries extends Target {
  count: number;
  /** JSON text of the data of each event. */
  data: string;
}

/**
 * The same, of events that were published one after the other within the last day, and were never
 * attempted.
 */
export async function fillOldDeliveries(
  sql: Sql,
  { accountId, webhookIds, count, data }: OldDeliveries,
): Promise<void> {
  const emitterId = newId('source');
  const firstMs = Date.now() - DAY_MS;
  const floors = Array.from({ length: ID_TIMES }, (_, n) =>
    newId('delivery', firstMs + (n * DAY_MS) / ID_TIMES).slice(0, ID_FLOOR_CHARS),
  );
  const ids = [...webhookIds];
  for (let first = 0; first < count; first += BATCH_OF_OLD) {
    const numbers = sql`
      select n, ${firstMs}::int8 + n * ${DAY_MS}::int8 / ${count}::int8 as ms
      from generate_series(${first}::int8, ${Math.min(first + BATCH_OF_OLD, count) - 1}::int8) as n`;
    await sql`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
      select ${emitterId}, ms, n, ${accountId}, '', ${data} from (${numbers}) as e`;
    await sql`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, next_attempt_at, created_at)
      select (${floors}::text[])[1 + n * ${ID_TIMES}::int8 / ${count}::int8] || lpad(n::text, 11, '0'), ${accountId},
        (${ids}::text[])[1 + n % ${ids.length}::int8], ${emitterId}, ms, n, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0)
      from (${numbers}) as d`;
  }
}

export async function startDelivering(sql: Sql, { accountId, webhookIds }: Target): Promise<void> {
  await addJobs(sql, lanesOfWaiting(webhookIds.map((webhookId) => ({ accountId, webhookId }))));
}
