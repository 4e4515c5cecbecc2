import { LIMITS, newId } from '@headwater/shared';
import { emitIdOf, newInvocationId, orderKeyOf } from '../../events/index.ts';
import { deliverLane, isListenerActive, isWebhook, lockListener, readOrdering } from '../../outbox/index.ts';
import { addJobs, type JobSpec, type Sql, type Transaction } from '../../db/index.ts';
import { insertInvocationRows, runLane } from '../invocations.sql.ts';
import { readReplayEvents, type ReplayEvent } from './replay-events.sql.ts';
import { lockRunningReplay, replayJob, type ReplayRow } from './replays.sql.ts';

export interface ReplayTurn {
  accountId: string;
  listenerId: string;
  sent: number;
}

/**
 * Until a listener that is stopped, or has as much waiting as a replay may bring, is looked at
 * again.
 */
const STOPPED_RETRY_MS = 5_000;
const FULL_RETRY_MS = 500;

/**
 * One turn of a replay: its next events become deliveries or invocations, in one transaction with
 * the cursor and the job of the next turn. So a crash neither repeats nor leaves out one. Answers
 * undefined where the turn has sent nothing.
 */
export async function advanceReplay(sql: Sql, replayId: string, nowMs: () => number): Promise<ReplayTurn | undefined> {
  return sql.begin(async (tx) => {
    const replay = await lockRunningReplay(tx, replayId);
    if (replay === undefined) return undefined;
    const { accountId, listenerId } = replay;
    if (!(await lockListener(tx, accountId, listenerId))) {
      await end(tx, replay, 'failed', `There is no ${listenerId} any more`);
      return undefined;
    }
    if (!(await isListenerActive(tx, accountId, listenerId))) {
      await addJobs(tx, [replayJob(replayId, nowMs() + STOPPED_RETRY_MS)]);
      return undefined;
    }
    const room = await roomOf(tx, listenerId);
    if (room <= 0) {
      await addJobs(tx, [replayJob(replayId, nowMs() + FULL_RETRY_MS)]);
      return undefined;
    }
    const sent = await sendNext(tx, replay, room, nowMs());
    return { accountId, listenerId, sent };
  });
}

async function sendNext(tx: Transaction, replay: ReplayRow, room: number, nowMs: number): Promise<number> {
  const { id, listenerId, cursorMs, cursorSeq, ratePerSecond } = replay;
  const max = Math.min(room, ratePerSecond ?? LIMITS.replayBatch);
  const ordering = isWebhook(listenerId) ? await readOrdering(tx, listenerId) : undefined;
  const needsKey = ordering !== undefined && ordering.key !== null;
  const looked = await readReplayEvents(
    tx,
    replay,
    { ms: cursorMs, seq: cursorSeq },
    {
      limit: LIMITS.replayBatch,
      maxBytes: LIMITS.maxReplayBatchBytes,
      needsData: replay.filter !== null || !isWebhook(listenerId) || needsKey,
    },
  );
  if (looked.length === 0) {
    await end(tx, replay, 'done', null);
    return 0;
  }
  const { events, last } = firstMatching(looked, max);
  const lanes = await insertFor(tx, replay, events, ordering);
  await tx`
    update replays set cursor_ms = ${last.ms}, cursor_seq = ${last.seq}, sent = sent + ${events.length} where id = ${id}`;
  const pauseMs = ratePerSecond === null ? 0 : (events.length / ratePerSecond) * 1_000;
  await addJobs(tx, [...lanes, replayJob(id, nowMs + pauseMs)]);
  return events.length;
}

/** At most `max` that match; the cursor goes on after `last`. */
function firstMatching(looked: readonly ReplayEvent[], max: number): { events: ReplayEvent[]; last: ReplayEvent } {
  const events = looked.filter(({ matches }) => matches).slice(0, max);
  const isCut = events.length === max;
  return { events, last: (isCut ? events.at(-1) : looked.at(-1)) as ReplayEvent };
}

async function insertFor(
  tx: Transaction,
  replay: ReplayRow,
  events: readonly ReplayEvent[],
  ordering: { key: string | null } | undefined,
): Promise<JobSpec[]> {
  const orderKey = ({ data }: ReplayEvent) => ordering && orderKeyOf(ordering.key, data ?? 'null');
  if (events.length === 0) return [];
  const { id, accountId, emitterId, listenerId } = replay;
  if (isWebhook(listenerId)) {
    // Ids carry the millisecond of their event: traces find them by it.
    await tx`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, next_trigger, replay_id, order_key)
      select d.id, ${accountId}, ${listenerId}, ${emitterId}, d.ms, d.seq, 'replay', ${id}, d.order_key from unnest(
        ${events.map(({ ms }) => newId('delivery', ms))}::text[], ${events.map(({ ms }) => ms)}::int8[],
        ${events.map(({ seq }) => seq)}::int4[], ${events.map((event) => orderKey(event) ?? null)}::text[]
      ) as d(id, ms, seq, order_key)`;
    return [deliverLane(listenerId)];
  }
  // Ids of one millisecond are random: sorted, they are in the order of the events, in which a lane
  // takes them up.
  const ids = events.map((event) => invocationIdOf(listenerId, event)).sort();
  await insertInvocationRows(
    tx,
    events.map((event, at) => ({
      id: ids[at] as string,
      accountId,
      sourceId: listenerId,
      kind: 'event' as const,
      event: event.data ?? 'null',
      // The chain begins anew, so that `maxEventHops` holds for the following events.
      cause: {
        event: emitIdOf(emitterId, event),
        hops: 1,
        ...(event.traceId === null ? {} : { traceId: event.traceId }),
      },
    })),
  );
  return [runLane(listenerId)];
}

/**
 * Runs of sources are found by the millisecond of their event, executions by their trace: those are
 * new in their list.
 */
function invocationIdOf(listenerId: string, { ms }: ReplayEvent): string {
  return listenerId.startsWith('p_') ? newInvocationId(listenerId) : newInvocationId(listenerId, ms);
}

async function end(tx: Transaction, { id }: ReplayRow, status: 'done' | 'failed', error: string | null): Promise<void> {
  await tx`update replays set status = ${status}, error = ${error}, ended_at = now() where id = ${id}`;
}

/**
 * How many more past events may wait for the listener: its new events must not wait behind a
 * million past ones.
 */
async function roomOf(tx: Transaction, id: string): Promise<number> {
  const max = isWebhook(id) ? LIMITS.maxReplayAheadDeliveries : LIMITS.maxReplayAheadInvocations;
  const [row] = isWebhook(id)
    ? await tx<{ count: number }[]>`
        select count(*)::int4 as count from (
          select from deliveries where leased_by is null and webhook_id = ${id} and status = 'pending' limit ${max}
        ) as waiting`
    : await tx<{ count: number }[]>`
        select count(*)::int4 as count from (
          select from invocations where leased_by is null and source_id = ${id} limit ${max}
        ) as waiting`;
  return max - (row?.count ?? 0);
}
