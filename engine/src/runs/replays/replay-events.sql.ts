import { idFloor, LIMITS, matchesChannel } from '@headwater/shared';
import { createFilterJudges, emitIdOf, type EventPosition, isWorkflow } from '../../events/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';
import { isWebhook } from '../../outbox/index.ts';

/** Which events a replay is of. */
export interface ReplayScope {
  accountId: string;
  emitterId: string;
  listenerId: string;
  /** Null: all channels but the built-in ones. */
  eventName: string | null;
  /** JSON text. */
  filter: string | null;
  sinceMs: number;
  untilMs: number;
  /** Only these. */
  ids: readonly EventPosition[] | null;
}

export interface ReplayEvent extends EventPosition {
  traceId: string | null;
  /** JSON text; null where nothing needs it. */
  data: string | null;
  /** It is one of those that the replay is of. */
  matches: boolean;
  bytes: number;
}

interface EventRow extends EventPosition {
  channel: string;
  trace_id: string | null;
  data: string | null;
  bytes: number;
}

/**
 * The next ones in the order of their ids, as far as their data are read together no more than
 * `maxBytes`.
 */
export async function readReplayEvents(
  sql: Sql | Transaction,
  scope: ReplayScope,
  after: EventPosition,
  { limit, maxBytes, needsData }: { limit: number; maxBytes: number; needsData: boolean },
): Promise<ReplayEvent[]> {
  const { accountId, emitterId, sinceMs, untilMs, ids } = scope;
  const named =
    ids === null
      ? sql``
      : sql`join unnest(${ids.map(({ ms }) => ms)}::int8[], ${ids.map(({ seq }) => seq)}::int4[]) as k(ms, seq)
          on e.indexed_at_ms = k.ms and e.seq = k.seq`;
  const rows = await sql<EventRow[]>`
    select ms, seq, channel, trace_id, bytes, ${needsData ? sql`data` : sql`null as data`} from (
      select *, sum(bytes) over (order by ms, seq rows between unbounded preceding and 1 preceding) as bytes_before from (
        select e.indexed_at_ms as ms, e.seq, e.channel, coalesce(e.trace_id, e.invocation_id) as trace_id, e.data,
          octet_length(e.data) as bytes
        from events e ${named}
        where e.emitter_id = ${emitterId} and e.account_id = ${accountId}
          and (e.indexed_at_ms, e.seq) > (${after.ms}::int8, ${after.seq}::int4)
          and e.indexed_at_ms >= ${sinceMs}::int8 and e.indexed_at_ms < ${untilMs}::int8
        order by e.indexed_at_ms, e.seq limit ${limit}
      ) as next
    ) as measured
    where ${needsData ? sql`coalesce(bytes_before, 0) < ${maxBytes}::int8` : sql`true`}
    order by ms, seq`;
  const judgeFor = createFilterJudges();
  return rows.map(({ ms, seq, channel, trace_id: traceId, data, bytes }) => {
    const isMeant = scope.eventName === null ? !channel.startsWith('$') : matchesChannel(scope.eventName, channel);
    const passes = () => scope.filter === null || judgeFor(accountId, data ?? '')(scope.filter) === 'match';
    return { ms, seq, traceId, data, bytes, matches: isMeant && passes() };
  });
}

export interface ReplayCount {
  count: number;
  isComplete: boolean;
  deliveredBefore: number;
}

const COUNTED_AT_ONCE = 2_000;

/** How many events there are, and how many of them the listener has got already. */
export async function countReplayEvents(sql: Sql, scope: ReplayScope): Promise<ReplayCount> {
  const found: ReplayCount = { count: 0, isComplete: true, deliveredBefore: 0 };
  let [after, scanned, bytes]: [EventPosition, number, number] = [{ ms: -1, seq: -1 }, 0, 0];
  const needsData = scope.filter !== null;
  for (;;) {
    const read = { limit: COUNTED_AT_ONCE, maxBytes: LIMITS.maxReplayBatchBytes, needsData };
    const events = await readReplayEvents(sql, scope, after, read);
    const last = events.at(-1);
    if (last === undefined) return found;
    const matching = events.filter(({ matches }) => matches);
    const looked = matching.slice(0, Math.max(0, LIMITS.maxReplayLookups - found.count));
    found.deliveredBefore += await countKnown(sql, scope, looked);
    found.count += matching.length;
    scanned += events.length;
    bytes += needsData ? events.reduce((sum, event) => sum + event.bytes, 0) : 0;
    after = last;
    if (scanned >= LIMITS.maxCountedReplayEvents || bytes >= LIMITS.maxCountedReplayBytes) {
      found.isComplete = (await readReplayEvents(sql, scope, after, { ...read, limit: 1 })).length === 0;
      return found;
    }
  }
}

/**
 * Those of these events that the listener has got. A run of a source that neither logged nor
 * failed has left nothing but its events.
 */
async function countKnown(sql: Sql, scope: ReplayScope, events: readonly ReplayEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const { accountId, emitterId, listenerId } = scope;
  const kind = isWebhook(listenerId) ? 'delivery' : isWorkflow(listenerId) ? 'execution' : 'invocation';
  const known =
    kind === 'delivery'
      ? sql`select from deliveries d where d.webhook_id = ${listenerId} and d.id >= e.floor and d.id < e.ending
          and d.account_id = ${accountId} and d.emitter_id = ${emitterId} and d.indexed_at_ms = e.ms and d.seq = e.seq`
      : kind === 'execution'
        ? sql`select from executions x where x.trace_id = e.trace_id and x.account_id = ${accountId}
          and x.workflow_id = ${listenerId} and x.caused_by = e.emit_id`
        : sql`select from runs r where r.id >= e.floor and r.id < e.ending and r.account_id = ${accountId}
          and r.source_id = ${listenerId} and r.caused_by = e.emit_id`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from unnest(
      ${events.map(({ ms }) => ms)}::int8[], ${events.map(({ seq }) => seq)}::int4[],
      ${events.map((event) => emitIdOf(emitterId, event))}::text[], ${events.map(({ traceId }) => traceId)}::text[],
      ${events.map(({ ms }) => idFloor(kind, ms))}::text[], ${events.map(({ ms }) => idFloor(kind, ms + 1))}::text[]
    ) as e(ms, seq, emit_id, trace_id, floor, ending) where exists (${known})`;
  return row?.count ?? 0;
}
