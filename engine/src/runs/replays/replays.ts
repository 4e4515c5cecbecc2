import {
  filterJson,
  isListenerActive,
  readGivenFilter,
  requireListener,
  unknownEmitter,
  unknownListener,
} from '../../outbox/index.ts';
import { HeadwaterError, LIMITS, newId, notFound, platformLimit } from '@headwater/shared';
import {
  findCountFault,
  findTextFault,
  type ReplayRecord,
  type ReplayRequest,
  type Replays,
  throwFields,
} from '../../contract/index.ts';
import { emitterExists, type EventPosition, formatEventId, parseEventId } from '../../events/index.ts';
import { checkPageSize, inPageOrder, readPage, type Sql } from '../../db/index.ts';
import { countReplayEvents, type ReplayScope } from './replay-events.sql.ts';
import { cancelReplay, insertReplay, readReplays, type ReplayRow } from './replays.sql.ts';

/** Past events of an emitter, sent to a webhook, workflow or source by a job. */
export function createReplays({ sql, nowMs }: { sql: Sql; nowMs: () => number }): Replays {
  async function find(accountId: string, id: string): Promise<ReplayRecord> {
    const [row] = await readReplays(sql, accountId, [id]);
    if (row === undefined) throw notFound('replay', id);
    return recordOf(row);
  }

  return {
    async create(who, request) {
      const { accountId } = who;
      requireListener(who, request.listenerId);
      const scope = scopeOf(accountId, request, nowMs());
      await requireEnds(sql, scope);
      const counted = await countReplayEvents(sql, scope);
      const ratePerSecond = request.ratePerSecond ?? null;
      if (request.dryRun === true) return dryRunOf(scope, ratePerSecond, counted, nowMs());
      const id = newId('replay');
      if (await insertReplay(sql, { ...scope, id, ratePerSecond, counted })) return find(accountId, id);
      const limit = platformLimit('maxRunningReplays', LIMITS.maxRunningReplays + 1);
      const message = `${limit.value} replays of this account have not ended: wait, or cancel one`;
      throw new HeadwaterError('CONFLICT', message, { limit });
    },
    async list({ accountId }, request) {
      checkPageSize(request.limit);
      const { ids, ...page } = await readPage(sql, { table: 'replays', accountId, order: 'created' }, request);
      return { ...page, items: inPageOrder(ids, await readReplays(sql, accountId, ids)).map(recordOf) };
    },
    get: ({ accountId }, id) => find(accountId, id),
    async cancel({ accountId }, id) {
      const isCancelled = await cancelReplay(sql, accountId, id);
      const replay = await find(accountId, id);
      if (isCancelled) return replay;
      throw new HeadwaterError('CONFLICT', `Replay ${id} has ended: it is ${replay.status}`);
    },
  };
}

async function requireEnds(sql: Sql, { accountId, emitterId, listenerId }: ReplayScope): Promise<void> {
  if (!(await emitterExists(sql, accountId, emitterId))) throw unknownEmitter(emitterId);
  const isActive = await isListenerActive(sql, accountId, listenerId);
  if (isActive === undefined) throw unknownListener(listenerId);
  if (isActive) return;
  throw new HeadwaterError('CONFLICT', `${listenerId} is stopped; set active to true to replay events to it`);
}

/** Throws INVALID_REQUEST. Events stored from now on are not past events. */
function scopeOf(accountId: string, request: ReplayRequest, nowMs: number): ReplayScope {
  const { emitterId, listenerId, eventName, ratePerSecond } = request;
  const sinceMs = request.since?.getTime() ?? 0;
  const untilMs = Math.min(request.until?.getTime() ?? nowMs, nowMs);
  const channelFault = findTextFault(eventName, 'maxChannelChars');
  const rateLimit = platformLimit('maxReplayRatePerSecond', ratePerSecond ?? 0);
  const rateFault = findCountFault(ratePerSecond, 1, rateLimit);
  throwFields([
    ...(channelFault === undefined ? [] : [{ path: 'event_name', ...channelFault }]),
    ...(rateFault === undefined ? [] : [{ path: 'rate_per_second', ...rateFault }]),
    ...(sinceMs < untilMs ? [] : [{ path: 'since', message: 'must be before until and before now' }]),
  ]);
  const filter = readGivenFilter(request.filter) ?? null;
  const ids = request.ids === undefined ? null : positionsOf(emitterId, request.ids);
  return { accountId, emitterId, listenerId, eventName: eventName ?? null, filter, sinceMs, untilMs, ids };
}

/** Ids of events, or their `emit_id`s, each once. */
function positionsOf(emitterId: string, ids: readonly string[]): EventPosition[] {
  const limit = platformLimit('maxReplayIds', ids.length);
  if (limit.used > limit.value) throwFields([{ path: 'ids', message: `must be at most ${limit.value}`, limit }]);
  const positions = ids.map((id, at) => {
    const ownPart = id.startsWith(`${emitterId}-`) ? id.slice(emitterId.length + 1) : id;
    const position = parseEventId(ownPart);
    if (position === undefined) {
      throwFields([{ path: `ids[${at}]`, message: 'must be the id of an event: 1606511826306-0' }]);
    }
    return position as EventPosition;
  });
  return [...new Map(positions.map((one) => [formatEventId(one), one])).values()];
}

function dryRunOf(
  scope: ReplayScope,
  ratePerSecond: number | null,
  counted: Awaited<ReturnType<typeof countReplayEvents>>,
  nowMs: number,
): ReplayRecord {
  const { id: _, ...record } = recordOf({
    ...scope,
    id: '',
    status: 'done',
    error: null,
    ratePerSecond,
    count: counted.count,
    countIsComplete: counted.isComplete,
    deliveredBefore: counted.deliveredBefore,
    sent: 0,
    cursorMs: -1,
    cursorSeq: -1,
    createdAt: new Date(nowMs),
    endedAt: null,
  });
  return { ...record, status: 'dry_run' };
}

function recordOf(row: ReplayRow): ReplayRecord {
  return {
    id: row.id,
    status: row.status,
    ...(row.error === null ? {} : { error: row.error }),
    emitterId: row.emitterId,
    listenerId: row.listenerId,
    ...(row.eventName === null ? {} : { eventName: row.eventName }),
    filter: filterJson(row.filter),
    ...(row.sinceMs === 0 ? {} : { since: new Date(row.sinceMs) }),
    until: new Date(row.untilMs),
    ...(row.ids === null ? {} : { ids: row.ids.map(formatEventId) }),
    ...(row.ratePerSecond === null ? {} : { ratePerSecond: row.ratePerSecond }),
    count: row.count,
    isCountComplete: row.countIsComplete,
    deliveredBefore: row.deliveredBefore,
    sent: row.sent,
    createdAt: row.createdAt,
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt }),
  };
}
