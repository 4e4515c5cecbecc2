import { createLimiter, HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/index.ts';
import type {
  EventRecord,
  EventStreamRequest,
  LogLineRecord,
  Principal,
  Stream,
  Streams,
} from '../../contract/index.ts';
import {
  comparePositions,
  createOpenStreams,
  emitterExists,
  type EventPosition,
  isWorkflow,
  nodeStops,
  parseEventId,
  type Watch,
  type Watches,
} from '../../events/index.ts';
import { LAST_LINE, linesOf, type LogCursor, parseLogCursor } from '../../runs/index.ts';
import { readNewestLines } from '../search/read-newest-lines.ts';
import { endAtPace, restAfterLongMs } from '../../fairness/index.ts';
import type { Sql } from '../../db/index.ts';
import { type LogSlice, readLoggedRuns } from '../search/read-logs.sql.ts';
import { readEventsAfter, readReplayStart } from './read-stream.sql.ts';
import { createStreamBytes, type StreamBytes } from './stream-bytes.ts';
import { createReader, type ReaderOptions } from './reader.ts';

export interface StreamsOptions {
  sql: Sql;
  limits: Pick<LimitsCache, 'get'>;
  watches: Watches;
}

/** Streams of this node, bounded for each account and in all. */
export function createStreams({ sql, limits, watches }: StreamsOptions): Streams & { open(): number } {
  const opened = createOpenStreams();
  const turns = createLimiter(LIMITS.maxStreamReadsPerTenant);

  const held = createStreamBytes(LIMITS.maxStreamBytesPerTenant);

  type Source<T, C> = Omit<ReaderOptions<T, C>, 'watch' | 'cursor' | 'onHeld' | 'onClose'> & {
    start: () => Promise<Start<C>>;
    bytesOf: (item: T) => number;
  };

  /** Once there is room for it. */
  async function open<T, C>({ accountId }: Principal, emitterId: string, source: Source<T, C>): Promise<Stream<T>> {
    await checkEmitter(sql, accountId, emitterId);
    const { maxStreams } = await limits.get(accountId);
    const place = opened.enter(accountId, maxStreams);
    const opening = new AbortController();
    place.closeWith(() => opening.abort());
    try {
      // In turn like every read: those that are opened at once would have all connections of the
      // node while they look.
      const end = await turns.take(accountId, opening.signal);
      if (end === undefined) throw nodeStops();
      const begun = await begin(watches, emitterId, source.start, end);
      const bytesOf = (items: readonly T[]) => items.reduce((sum, item) => sum + source.bytesOf(item), 0);
      const turn = async (signal: AbortSignal) => {
        await held.room(accountId, signal);
        return turns.take(accountId, signal);
      };
      const onHeld = holder(held, accountId);
      const stream = createReader<T, C>({
        ...source,
        ...begun,
        read: readInTurn<T, C>(source.read, bytesOf, turn),
        onHeld: (items) => onHeld(bytesOf(items)),
        onClose: place.leave,
      });
      place.closeWith(stream.close);
      return stream;
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  return {
    async events(who, emitterId, request) {
      const given = cursorOf(request.after, parseEventId);
      return open<EventRecord, EventPosition>(
        who,
        emitterId,
        eventSource(sql, who.accountId, emitterId, request, given),
      );
    },
    async logs(who, emitterId, { after }) {
      const ofWorkflow = isWorkflow(emitterId);
      const given = cursorOf(after, (text) => parseLogCursor(text, { ofWorkflow }));
      return open<LogLineRecord, LogCursor>(who, emitterId, lineSource(sql, who.accountId, emitterId, given));
    },
    open: opened.count,
    end: opened.end,
  };
}

/** Start of a stream, and the bytes that were read to find it. */
interface Start<C> {
  cursor: C;
  bytes: number;
}

/** Ends the turn in which it was asked for. */
async function begin<C>(watches: Watches, emitterId: string, start: () => Promise<Start<C>>, end: () => void) {
  const startedAtMs = performance.now();
  let bytes = 0;
  let watch: Watch | undefined;
  try {
    // Before the start is read: what comes meanwhile is seen by one of the two.
    watch = await watches.open(emitterId);
    const begun = await start();
    bytes = begun.bytes;
    return { watch, cursor: begun.cursor };
  } catch (error) {
    watch?.close();
    throw error;
  } finally {
    endTurn(end, bytes, performance.now() - startedAtMs);
  }
}

/** The bytes of a read decide when the next one may start. */
function readInTurn<T, C>(
  read: ReaderOptions<T, C>['read'],
  bytesOf: (items: readonly T[]) => number,
  turn: (signal: AbortSignal) => Promise<(() => void) | undefined>,
): ReaderOptions<T, C>['read'] {
  return async (from, last, signal) => {
    const end = await turn(signal);
    if (end === undefined) return { items: [], cursor: from, isFull: false };
    let bytes = 0;
    const startedAtMs = performance.now();
    try {
      const batch = await read(from, last, signal);
      bytes = bytesOf(batch.items);
      return batch;
    } finally {
      endTurn(end, bytes, performance.now() - startedAtMs);
    }
  };
}

/** Thousands of events that are not of the channel bring no bytes. */
function endTurn(end: () => void, bytes: number, tookMs: number): void {
  const restMs = restAfterLongMs(tookMs);
  if (restMs === 0) endAtPace(end, bytes, READ_PACE);
  else setTimeout(() => endAtPace(end, bytes, READ_PACE), restMs);
}

/** Says how many bytes of one stream are held. */
function holder(held: StreamBytes, accountId: string): (bytes: number) => void {
  let heldHere = 0;
  return (bytes) => {
    if (bytes !== heldHere) held.add(accountId, bytes - heldHere);
    heldHere = bytes;
  };
}

const READ_PACE = { smallChars: LIMITS.smallBodyBytes, charsPerSecond: LIMITS.streamReadBytesPerSecond };
/** Approximate bytes of a message besides its data. */
const MESSAGE_BYTES = 400;

async function checkEmitter(sql: Sql, accountId: string, id: string): Promise<void> {
  const isKnown = !id.includes('\0') && (await emitterExists(sql, accountId, id));
  if (!isKnown) throw notFound(isWorkflow(id) ? 'workflow' : 'source', id);
}

function cursorOf<C>(text: string | undefined, parse: (text: string) => C | undefined): C | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parse(text);
  if (parsed !== undefined) return parsed;
  const message = 'Expected the id of a message of this stream';
  throw new HeadwaterError('INVALID_REQUEST', `last_event_id: ${message}`, {
    fields: [{ path: 'last_event_id', message }],
  });
}

function eventSource(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { channel, expand }: EventStreamRequest,
  given: EventPosition | undefined,
) {
  return {
    start: async () => ({
      cursor: given ?? (await readReplayStart(sql, accountId, emitterId, { channel, count: LIMITS.recentEvents })),
      bytes: 0,
    }),
    bytesOf: ({ data }: EventRecord) => data.length + MESSAGE_BYTES,
    isAfter: (last: EventPosition, cursor: EventPosition) => comparePositions(last, cursor) > 0,
    async read(after: EventPosition, last: EventPosition) {
      const found = await readEventsAfter(sql, accountId, emitterId, { channel, after, expand });
      const { items, isFull, lookedUpTo } = found;
      if (lookedUpTo !== undefined) return { items, cursor: lookedUpTo, isFull: true };
      const newest = parseEventId(items.at(-1)?.id ?? '') ?? after;
      // Skips events of other channels up to `last`.
      const cursor = isFull || comparePositions(newest, last) > 0 ? newest : last;
      return { items, cursor, isFull };
    },
  };
}

function lineSource(sql: Sql, accountId: string, emitterId: string, given: LogCursor | undefined) {
  const ofWorkflow = isWorkflow(emitterId);
  const placeOf = (line: LogLineRecord) => parseLogCursor(line.id, { ofWorkflow });
  return {
    async start() {
      if (given !== undefined) return { cursor: given, bytes: 0 };
      const { lines, readChars } = await readNewestLines(sql, accountId, emitterId, LIMITS.recentEvents);
      const last = lines.at(-1);
      const oldest = last === undefined ? undefined : placeOf(last);
      return { cursor: oldest === undefined ? LOG_START : { ...oldest, index: oldest.index - 1 }, bytes: readChars };
    },
    bytesOf: ({ message }: LogLineRecord) => message.length + MESSAGE_BYTES,
    isAfter: (last: EventPosition, { major, minor }: LogCursor) =>
      !ofWorkflow && comparePositions(last, { ms: major, seq: Number(minor) }) > 0,
    // Lines of executions do not move the emitter's position, so they are polled.
    ...(ofWorkflow ? { everyMs: LIMITS.streamLogPollMs } : {}),
    async read(from: LogCursor, last: EventPosition) {
      const { runs, through, isFull } = await readLoggedRuns(sql, accountId, emitterId, sliceAt(from));
      const items = runs
        .flatMap((run) => linesOf(run))
        .filter((line) => !isSamePlace(placeOf(line), from) || line.index > from.index);
      const seen: LogCursor = through === undefined ? from : { ...through, index: LAST_LINE };
      if (ofWorkflow || isFull) return { items, cursor: seen, isFull };
      return { items, cursor: later(seen, { major: last.ms, minor: String(last.seq), index: LAST_LINE }), isFull };
    },
  };
}

/** A run whose lines were all returned is not read again: it may be as large as one whole read. */
const sliceAt = (cursor: LogCursor): LogSlice => (cursor.index === LAST_LINE ? { after: cursor } : { from: cursor });

/** Before every line, of a source and of a workflow. */
const LOG_START: LogCursor = { major: 0, minor: '0', index: LAST_LINE };

const isSamePlace = (a: LogCursor | undefined, b: LogCursor) => a?.major === b.major && a.minor === b.minor;

function later(a: LogCursor, b: LogCursor): LogCursor {
  const difference = a.major - b.major || Number(a.minor) - Number(b.minor);
  return difference > 0 ? a : b;
}
