import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from '../../db/index.ts';
import { type EventPosition, type EventRange, inIndexOrder } from '../../events/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import { cancelDue, type EventSpan, within } from './cancel-due.sql.ts';

/**
 * Subtracts deleted bytes from an account's history, for deletions before retention. `beganMs`:
 * start of the part that the bytes belong to.
 */
export async function uncountHistory(
  tx: Transaction,
  accountId: string,
  freed: readonly { beganMs: number; bytes: number }[],
): Promise<void> {
  if (freed.length === 0) return;
  await tx`select from account_histories where account_id = ${accountId} for update`;
  await tx`
    with freed as (
      select p.began_ms, least(p.bytes, f.bytes) as bytes
      from unnest(
        ${freed.map(({ beganMs }) => beganMs)}::int8[], ${freed.map(({ bytes }) => bytes)}::int8[]
      ) as f(began_ms, bytes) join history_parts p on p.account_id = ${accountId} and p.began_ms = f.began_ms
    ), parts as (
      update history_parts p set bytes = p.bytes - freed.bytes from freed
      where p.account_id = ${accountId} and p.began_ms = freed.began_ms
    )
    update account_histories set bytes = bytes - (select coalesce(sum(bytes), 0)::int8 from freed)
    where account_id = ${accountId}`;
}

/**
 * Events deleted in one transaction: a statement that waits for one of these rows waits for a
 * fraction of a second.
 */
export const EVENTS_DELETED_AT_ONCE = 1_000;

/**
 * Deletes the emitter's events from `start` to `end`, both included, oldest first, and cancels
 * their due deliveries before. Works in short transactions with pauses: one for twenty million
 * events would take minutes and keep the account's history locked. If it ends early, deleted events
 * stay deleted, and another call continues.
 */
export async function deleteEvents(
  sql: Sql,
  accountId: string,
  emitterId: string,
  range: Pick<EventRange, 'start' | 'end'>,
): Promise<void> {
  const from = range.start ?? { ms: 0, seq: 0 };
  const last = range.end ?? { ms: Number.MAX_SAFE_INTEGER, seq: 2 ** 31 - 1 };
  // Ignores events stored after this point: they could arrive faster than they are deleted.
  const to = await newestWithin(sql, { accountId, emitterId, from, to: last });
  if (to === undefined) return;
  const span = { accountId, emitterId, from, to };
  await cancelDue(sql, span);
  for (let next: EventPosition | undefined = from; next !== undefined; ) {
    const begunMs = performance.now();
    next = await deleteSome(sql, { ...span, from: next });
    if (next !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
  }
}

async function newestWithin(sql: Sql, span: EventSpan): Promise<EventPosition | undefined> {
  const [row] = await sql<EventPosition[]>`
    select indexed_at_ms as ms, seq from events where ${within(sql, span)} order by indexed_at_ms desc, seq desc limit 1`;
  return row;
}

/**
 * Answers where the next ones begin; undefined: these were the last. They are looked for from
 * there, as the index still has those that were deleted, and each slice would read all before it.
 */
async function deleteSome(sql: Sql, span: EventSpan): Promise<EventPosition | undefined> {
  return inIndexOrder(sql, async (tx) => {
    const [next] = await tx<EventPosition[]>`
      select indexed_at_ms as ms, seq from events where ${within(tx, span)}
      order by indexed_at_ms, seq offset ${EVENTS_DELETED_AT_ONCE} limit 1`;
    const freed = await tx<{ beganMs: number; bytes: number }[]>`
      with gone as (
        delete from events where ${within(tx, span)}
          ${next === undefined ? tx`` : tx`and (indexed_at_ms, seq) < (${next.ms}::int8, ${next.seq}::int4)`}
        returning indexed_at_ms - indexed_at_ms % ${LIMITS.historyPartMs}::int8 as began_ms,
          ${LIMITS.historyRowBytes}::int4 + octet_length(data) + octet_length(channel) + coalesce(octet_length(emit_id), 0)
            + coalesce(octet_length(summary), 0) as bytes
      )
      select began_ms as "beganMs", sum(bytes)::int8 as bytes from gone group by began_ms`;
    await uncountHistory(tx, span.accountId, freed);
    return next;
  });
}
