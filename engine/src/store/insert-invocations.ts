import type { InvocationKind } from '../run/invocation.ts';
import { TASKS } from '../jobs/tasks.ts';
import { addJobs } from './add-jobs.ts';
import type { Sql, Transaction } from './database.ts';

export interface NewInvocation {
  id: string;
  accountId: string;
  sourceId: string;
  kind: InvocationKind;
  timerProp?: string;
  event: string;
  /** The node that goes on with it at once; absent: any node, through the source's lane. */
  leasedBy?: string;
}

/** One statement for all of them; rows that no node holds get their lanes in the same transaction. */
export async function insertInvocations(sql: Sql, rows: readonly NewInvocation[]): Promise<void> {
  if (rows.every((row) => row.leasedBy !== undefined)) {
    await insertRows(sql, rows);
    return;
  }
  await sql.begin(async (tx) => {
    await insertRows(tx, rows);
    await addRunLanes(
      tx,
      rows.filter((row) => row.leasedBy === undefined).map((row) => row.sourceId),
    );
  });
}

/** Queues the lanes of these sources; `runAtMs` default: now. */
export async function addRunLanes(
  tx: Sql | Transaction,
  sourceIds: readonly string[],
  runAtMs?: number,
): Promise<void> {
  await addJobs(
    tx,
    [...new Set(sourceIds)].map((sourceId) => ({
      task: TASKS.runSource,
      payload: { sourceId },
      key: `run:${sourceId}`,
      ...(runAtMs === undefined ? {} : { runAtMs }),
    })),
  );
}

async function insertRows(sql: Sql | Transaction, rows: readonly NewInvocation[]): Promise<void> {
  await sql`
    insert into invocations (id, account_id, source_id, kind, timer_prop, event, leased_by, attempts)
    select r.*, case when r.leased_by is null then 0 else 1 end from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.accountId)}::text[],
      ${rows.map((row) => row.sourceId)}::text[], ${rows.map((row) => row.kind)}::text[],
      ${rows.map((row) => row.timerProp ?? null)}::text[], ${rows.map((row) => row.event)}::text[],
      ${rows.map((row) => row.leasedBy ?? null)}::text[]
    ) as r(id, account_id, source_id, kind, timer_prop, event, leased_by)`;
}
