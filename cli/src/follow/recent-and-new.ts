import type { EventSourceMessage } from 'eventsource-parser';
import type { ApiClient } from '../api/client.ts';
import type { EventRecord } from '../api/resources.ts';
import type { Output } from '../terminal/output.ts';
import { followStream } from './follow-stream.ts';
import { RememberedIds } from './remembered-ids.ts';

/** Records that an emitter keeps, as a list and as a stream. Their ids are the same in both. */
export interface Feed {
  /** `/sources/dc_…/event_summaries`. */
  listPath: string;
  /** `/sources/dc_…/sse`. */
  streamPath: string;
  /** Only records of this channel; the default one is ''. */
  channel?: string;
}

/** The server lists and replays so many. */
export const RECENT = 100;

/** The newest `count` records, oldest first. */
export async function readRecent(api: ApiClient, { listPath, channel }: Feed, count: number): Promise<EventRecord[]> {
  if (count === 0) return [];
  const query = { limit: count, expand: 'event', event_name: channel };
  return (await api.page<EventRecord>(listPath, query)).toReversed();
}

export interface Following {
  /** How many of the recent records are shown first. */
  count: number;
  show(record: EventRecord): void;
  output: Output;
  signal: AbortSignal;
}

/** Shows recent records, then each new one until the signal aborts. Each is shown once, also over lost connections. */
export async function followFeed(api: ApiClient, feed: Feed, following: Following): Promise<never> {
  const { count, show, output, signal } = following;
  // One at least: the stream goes on after it.
  const recent = await readRecent(api, feed, Math.max(count, 1));
  const seen = new RememberedIds(recent.map(({ id }) => id));
  for (const record of count === 0 ? [] : recent) show(record);
  return followStream({
    api,
    path: feed.streamPath,
    query: { channel: feed.channel, expand: 'event' },
    lastId: recent.at(-1)?.id,
    signal,
    onMessage(message) {
      const record = readRecord(message);
      if (record === undefined) output.warn('a message of the server is not understood and left out');
      else if (seen.add(record.id)) show(record);
    },
    onLost: (reason) => output.note(`(${reason}; connecting again)`),
    onBack: () => output.note('(connected again)'),
  });
}

/** What a workflow has sent with `$.send.sse` comes as its payload alone: the rest of the record is made here. */
function readRecord({ id = '', event: channel = '', data }: EventSourceMessage): EventRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
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
