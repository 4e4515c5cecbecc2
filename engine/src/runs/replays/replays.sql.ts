import { LIMITS } from '@headwater/shared';
import { addJobs, type JobSpec, type Sql, TASKS, type Transaction } from '../../db/index.ts';
import type { ReplayCount, ReplayScope } from './replay-events.sql.ts';
import { lockAccount } from '../../accounts/index.ts';

type ReplayRowStatus = 'running' | 'done' | 'cancelled' | 'failed';

export interface ReplayRow extends ReplayScope {
  id: string;
  status: ReplayRowStatus;
  error: string | null;
  ratePerSecond: number | null;
  count: number;
  countIsComplete: boolean;
  deliveredBefore: number;
  sent: number;
  cursorMs: number;
  cursorSeq: number;
  createdAt: Date;
  endedAt: Date | null;
}

export interface NewReplay extends ReplayScope {
  id: string;
  ratePerSecond: number | null;
  counted: ReplayCount;
}

/** `runAtMs` default: now. */
export function replayJob(replayId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.replayEvents, payload: { replayId }, key: `replay:${replayId}` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/**
 * With its job. False: as many of the account have not ended as it may have. The oldest ended ones
 * go.
 */
export async function insertReplay(sql: Sql, replay: NewReplay): Promise<boolean> {
  const { id, accountId, ids, counted } = replay;
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    const [open] = await tx<{ count: number }[]>`
      select count(*)::int4 as count from replays where account_id = ${accountId} and status = 'running'`;
    if ((open?.count ?? 0) >= LIMITS.maxRunningReplays) return false;
    await tx`
      insert into replays (id, account_id, emitter_id, listener_id, event_name, filter, since_ms, until_ms, event_ms, event_seq,
        rate_per_second, count, count_is_complete, delivered_before)
      values (${id}, ${accountId}, ${replay.emitterId}, ${replay.listenerId}, ${replay.eventName}, ${replay.filter},
        ${replay.sinceMs}, ${replay.untilMs}, ${ids === null ? null : ids.map(({ ms }) => ms)}::int8[],
        ${ids === null ? null : ids.map(({ seq }) => seq)}::int4[], ${replay.ratePerSecond}, ${counted.count},
        ${counted.isComplete}, ${counted.deliveredBefore})`;
    await tx`
      delete from replays where id in (
        select id from replays where account_id = ${accountId} and status <> 'running'
        order by created_at desc, id desc offset ${LIMITS.maxKeptReplays}::int4
      )`;
    await addJobs(tx, [replayJob(id)]);
    return true;
  });
}

interface Columns extends Omit<ReplayRow, 'ids' | 'createdAt' | 'endedAt'> {
  createdMs: number;
  endedMs: number | null;
  eventMs: number[] | null;
  eventSeq: number[] | null;
}

/** Those of `ids` that are the account's, in no order. */
export async function readReplays(sql: Sql, accountId: string, ids: readonly string[]): Promise<ReplayRow[]> {
  const rows = await sql<Columns[]>`
    select ${columns(sql)} from replays where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map(rowOf);
}

/** One that has not ended, locked until the transaction ends. */
export async function lockRunningReplay(tx: Transaction, id: string): Promise<ReplayRow | undefined> {
  const [row] = await tx<
    Columns[]
  >`select ${columns(tx)} from replays where id = ${id} and status = 'running' for update`;
  return row === undefined ? undefined : rowOf(row);
}

/** Waits for the turn under way. False: the account has no such replay that still runs. */
export async function cancelReplay(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`
    update replays set status = 'cancelled', ended_at = now()
    where id = ${id} and account_id = ${accountId} and status = 'running'`;
  return rows.count > 0;
}

function columns(sql: Sql | Transaction) {
  return sql`id, account_id as "accountId", emitter_id as "emitterId", listener_id as "listenerId",
    event_name as "eventName", filter, since_ms as "sinceMs", until_ms as "untilMs", event_ms as "eventMs",
    event_seq as "eventSeq", rate_per_second as "ratePerSecond", status, error, count,
    count_is_complete as "countIsComplete", delivered_before as "deliveredBefore", sent, cursor_ms as "cursorMs",
    cursor_seq as "cursorSeq", (extract(epoch from created_at) * 1000)::float8 as "createdMs",
    (extract(epoch from ended_at) * 1000)::float8 as "endedMs"`;
}

function rowOf({ eventMs, eventSeq, createdMs, endedMs, ...row }: Columns): ReplayRow {
  return {
    ...row,
    ids: eventMs === null ? null : eventMs.map((ms, at) => ({ ms, seq: eventSeq?.[at] ?? 0 })),
    createdAt: new Date(createdMs),
    endedAt: endedMs === null ? null : new Date(endedMs),
  };
}
