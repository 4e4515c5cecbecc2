import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../fairness/rest-after.ts';
import type { Sql } from '../db/database.ts';
import { inIndexOrder } from '../events/read-events.sql.ts';

/** Values that are deleted in one transaction: a fraction of a second of one processor. */
const DELETE_BATCH = 2_000;

/**
 * Deletes the `$.service.db` of a deleted source, in short transactions with pauses. Ten megabytes
 * of small values are a hundred and fifty thousand rows: one transaction would delay all tenants'
 * commits. No run adds to them, since the source's state is gone. If this ends early, retention
 * deletes the rest. `inTurn` limits concurrent transactions of an account.
 */
export async function deleteStoredValues(
  sql: Sql,
  accountId: string,
  sourceId: string,
  inTurn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<void> {
  for (let from: string | undefined = ''; from !== undefined; ) {
    const begunMs = performance.now();
    const at: string = from;
    from = await inTurn(() => deleteSome(sql, { accountId, sourceId, from: at }));
    if (from !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
  }
}

/**
 * Answers the last one where there may be more. The next ones are looked for from there, as the
 * index still has those that were deleted, and each slice would read all before it.
 */
async function deleteSome(
  sql: Sql,
  { accountId, sourceId, from }: { accountId: string; sourceId: string; from: string },
): Promise<string | undefined> {
  const [row] = await inIndexOrder(
    sql,
    (tx) => tx<{ count: number; last: string | null }[]>`
      with gone as (
        delete from component_db where account_id = ${accountId} and source_id = ${sourceId} and key = any(array(
          select key from component_db where account_id = ${accountId} and source_id = ${sourceId} and key >= ${from}
          order by key limit ${DELETE_BATCH} for update skip locked
        ))
        returning key
      )
      select count(*)::int4 as count, max(key) as last from gone`,
  );
  return row?.count === DELETE_BATCH ? (row.last ?? undefined) : undefined;
}

/**
 * Deletes values that remain because a node ended early: at most `limit`, for the deleted ones of
 * these emitters. Returns how many.
 */
export async function deleteLeftValues(sql: Sql, emitterIds: readonly string[], limit: number): Promise<number> {
  const rows = await sql`
    delete from component_db d using (
      select e.id, kept.key from emitters e cross join lateral (
        select key from component_db where source_id = e.id limit ${limit} for update skip locked
      ) as kept
      where e.id = any(${[...emitterIds]}::text[]) and e.deleted_at is not null limit ${limit}
    ) as old
    where d.source_id = old.id and d.key = old.key`;
  return rows.count;
}
