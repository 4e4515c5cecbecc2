import type { StreamMessage } from '@headwater/client/transport';
import { type ApiClient, interrupted } from '../api/client.ts';
import type { EventRecord } from '../api/resources.ts';
import type { Output } from '../terminal/output.ts';
import { RememberedIds } from './remembered-ids.ts';
import { parseExactJson } from '../exact-json.ts';

/** Records that an emitter keeps, as a list and as a stream. Their ids are the same in both. */
export interface Feed {
  /** `/sources/dc_…/event_summaries`. */
  listPath: string;
  /** `/sources/dc_…/sse`. */
  streamPath: string;
  /** `/sources/dc_…/events`, where all that is kept is there in pages. */
  historyPath?: string;
  /** Only records of this channel; the default one is ''. */
  channel?: string;
}

/** The most records that the server lists, replays, or puts on one page. */
export const RECENT = 100;
/** They are all in memory before the oldest is shown. */
export const MAX_HISTORY = 10_000;

/** The newest `count` records, oldest first. */
export async function readRecent(api: ApiClient, feed: Feed, count: number): Promise<EventRecord[]> {
  const { listPath, historyPath, channel } = feed;
  const records: EventRecord[] = [];
  let after: string | undefined;
  while (records.length < count) {
    const limit = Math.min(count - records.length, RECENT);
    const query = { limit, after, expand: 'event', event_name: channel };
    const { data, page_info: info } = await api.list<EventRecord>(historyPath ?? listPath, query);
    for (const record of data) records.push(await readWhole(api, feed, record));
    // The server searches a limited number of records per page, so more may follow a short or empty
    // one.
    if (typeof info?.end_cursor !== 'string' || info.end_cursor === after) break;
    after = info.end_cursor;
  }
  return records.toReversed();
}

/** A page limits the data of its records: a truncated record is whole on a page of its own. */
async function readWhole(api: ApiClient, { historyPath }: Feed, record: EventRecord): Promise<EventRecord> {
  if (record.event_truncated !== true || historyPath === undefined) return record;
  const { id, metadata } = record;
  const query = { start_id: id, end_id: id, limit: 1, expand: 'event', event_name: metadata.name };
  const [whole] = await api.page<EventRecord>(historyPath, query);
  // It may be deleted by now.
  return whole ?? record;
}

export interface Following {
  /** How many of the recent records are shown first. */
  count: number;
  show(record: EventRecord): void;
  output: Output;
  /** Reports a lost connection and its return. Default: `tellOfConnection`, for this feed only. */
  connection?: Connection;
}

export interface Connection {
  lost(reason: string): void;
  back(): void;
}

/**
 * Says once that connections are lost, and once that all are back, however many feeds there are.
 */
export function tellOfConnection(output: Pick<Output, 'note'>): Connection {
  let away = 0;
  return {
    lost(reason) {
      if (away++ === 0) output.note(`(${reason}; connecting again)`);
    },
    back() {
      if (--away === 0) output.note('(connected again)');
    },
  };
}

/**
 * Shows recent records, then each new one until the signal aborts. Each is shown once, also over
 * lost connections.
 */
export async function followFeed(api: ApiClient, feed: Feed, following: Following): Promise<never> {
  const { count, show, output, connection = tellOfConnection(output) } = following;
  // One at least: the stream goes on after it.
  const recent = await readRecent(api, feed, Math.max(count, 1));
  const seen = new RememberedIds(recent.map(({ id }) => id));
  for (const record of count === 0 ? [] : recent) show(record);
  const query = { channel: feed.channel, expand: 'event' };
  const watch = { lastId: recent.at(-1)?.id, onLost: connection.lost, onBack: connection.back };
  for await (const message of api.stream(feed.streamPath, query, watch)) {
    const record = readRecord(message);
    if (record === undefined) output.warn('a message of the server is not understood and left out');
    else if (seen.add(record.id)) show(record);
  }
  throw interrupted();
}

/**
 * `$.send.sse` of a workflow streams the payload alone. This function adds the other members of the
 * record.
 */
function readRecord({ id, event: channel, data }: StreamMessage): EventRecord | undefined {
  let value: unknown;
  try {
    value = parseExactJson(data);
  } catch {
    // The caller says so.
    return undefined;
  }
  const { id: own, metadata } = (value ?? {}) as Partial<EventRecord>;
  if (own === id && typeof metadata?.emit_id === 'string') return value as EventRecord;
  const atMs = Number(id.split('-')[0]);
  return {
    id,
    indexed_at_ms: Number.isFinite(atMs) ? atMs : Date.now(),
    event: value,
    metadata: { emit_id: id, emitter_id: '', name: channel, summary: null, ts: null },
  };
}
