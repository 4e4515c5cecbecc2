import type { Sql, Transaction } from '../../db/index.ts';
import { isWorkflow } from '../../events/index.ts';
import { NOTHING_QUEUED, type Queued, sumOf } from '../commit/queued.ts';

/** Subscriptions to the emitter, by its id or its glob, also those of stopped listeners. */
export async function countListeners(sql: Sql, accountId: string, emitterId: string): Promise<number> {
  const glob = isWorkflow(emitterId) ? 'p_*' : 'dc_*';
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from subscriptions where account_id = ${accountId} and emitter_id in (${emitterId}, ${glob})`;
  return row?.count ?? 0;
}

/** Size of all `$.service.db` by account, as counted for maxAllDbBytes. */
export async function readAccountDbSizes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id, sum(db_bytes)::int8 as bytes from emitter_state where db_bytes > 0 group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}

/** Work that no node holds. */
export interface Backlogs {
  ofAccount: ReadonlyMap<string, Queued>;
  /** Deliveries. */
  ofWebhook: ReadonlyMap<string, number>;
}

/**
 * Postgres knows the length of a long event without reading it. Deliveries are counted from their
 * index, without the rows, and in one process: several would take all cores from others. Those of a
 * deleted webhook are not counted, they are about to be cancelled.
 */
export async function readBacklogs(sql: Sql): Promise<Backlogs> {
  const waits = sql`d.status = 'pending' and d.leased_by is null`;
  // A draining delivery was held, and takes nothing from what else waits.
  const held = sql`case when not w.active then d.count when w.drain_before is not null then (
    select count(*) from deliveries d where ${waits} and d.webhook_id = w.id and d.created_at <= w.drain_before
  ) else 0 end`;
  const count = (tx: Transaction) => tx<(Queued & { account_id: string; webhook_id: string | null })[]>`
    select account_id, null as webhook_id, count(*) as invocations, sum(octet_length(event))::int8 as chars, 0 as deliveries, 0 as held
    from invocations where leased_by is null group by account_id
    union all
    select account_id, id, 0, 0, greatest(count - held, 0), held from (
      select w.account_id, w.id, d.count, ${held} as held
      from (select d.webhook_id, count(*) as count from deliveries d where ${waits} group by d.webhook_id) as d
      join webhooks w on w.id = d.webhook_id
    ) as counted`;
  const rows = await sql.begin(async (tx) => {
    await tx`set local max_parallel_workers_per_gather = 0`;
    return count(tx);
  });
  const ofAccount = new Map<string, Queued>();
  const ofWebhook = new Map<string, number>();
  for (const { account_id: accountId, webhook_id: webhookId, ...queued } of rows) {
    ofAccount.set(accountId, sumOf(ofAccount.get(accountId) ?? NOTHING_QUEUED, queued));
    if (webhookId !== null) ofWebhook.set(webhookId, queued.deliveries);
  }
  return { ofAccount, ofWebhook };
}

/**
 * Bytes of waiting executions by account, as counted for maxWaitingBytes. In rows of earlier
 * versions, `bytes` lacks the next run's input and the resume data. Those are nearly all of a large
 * row, so they count there. Postgres reads their lengths from the rows, not from the long texts.
 */
export async function readWaitingBytes(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ account_id: string; bytes: number }[]>`
    select account_id,
      sum(greatest(bytes, coalesce(octet_length(context), 0) + coalesce(octet_length(resume_data), 0)))::int8 as bytes
    from execution_waits group by account_id`;
  return new Map(rows.map((row) => [row.account_id, row.bytes]));
}
