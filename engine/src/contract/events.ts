import type { LogLine } from '@headwater/shared';
import type { Page, PageRequest, Principal } from './base.ts';

export interface EventRecord {
  /** `1606511826306-0` */
  id: string;
  indexedAtMs: number;
  emitterId: string;
  channel: string;
  /** JSON text as emitted, or the beginning of it. */
  data: string;
  /** `data` is only the beginning. */
  isCut?: true;
  emitId?: string;
  summary?: string;
  ts?: number;
  /** The event that started the run that emitted this one: `<emitter id>-<event id>`. */
  causedBy?: string;
  /** The invocation that the chain of events began with; absent where a hook emitted it. */
  traceId?: string;
}

/** A line that a run or an execution logged, or the error that it ended with as its last line. */
export interface LogLineRecord extends LogLine {
  /**
   * `1606511826306-0-3`: the place of the run among its emitter's, and that of the line in it, from
   * 0.
   */
  id: string;
  runId: string;
  index: number;
  /** The step of a workflow. */
  namespace?: string;
  /** Only for an error. */
  code?: string;
}

export interface NewestLines {
  lines: LogLineRecord[];
  /** Characters of all lines that were read: the lines of a run are read together. */
  readChars: number;
}

export interface EventHistoryRequest extends PageRequest {
  expand: boolean;
  /**
   * One channel, '' being the default one; absent: all but the built-in ones (`$errors`, `$logs`).
   */
  channel?: string;
  /** Event ids, both included. */
  startId?: string;
  endId?: string;
}

/** A search: an event matches where all that is given holds. */
export interface EventSearchRequest extends PageRequest {
  expand: boolean;
  /** A source or workflow; default: all of the account. */
  emitterId?: string;
  /** As of EventHistoryRequest. */
  channel?: string;
  /** The id of an event, its `emit_id`, or the id that the component gave. */
  id?: string;
  /** Letter by letter, in the JSON of the data or in the summary. */
  text?: string;
  /** JSON, checked by the engine. */
  filter?: unknown;
  /** When it was stored: `since` is included, `until` is not. */
  since?: Date;
  until?: Date;
}

export interface Events {
  /**
   * The newest LIMITS.recentEvents, newest first. Data is cut to LIMITS.summaryEventBytes. With
   * `expand` it is whole while the total, from the newest on, is at most LIMITS.maxSummariesBytes.
   */
  recent(
    who: Principal,
    emitterId: string,
    request: Omit<EventHistoryRequest, 'startId' | 'endId'>,
  ): Promise<Page<EventRecord>>;
  /**
   * Everything that is kept, as `recent`. Cursors are event ids; `total` stops counting at
   * LIMITS.maxCountedEvents.
   */
  history(who: Principal, emitterId: string, request: EventHistoryRequest): Promise<Page<EventRecord>>;
  /**
   * Events of all emitters, newest first, data as of `recent`. One page looks through
   * LIMITS.maxScannedEvents rows, and with `text` or `filter` LIMITS.maxSearchedBytes of data.
   * `total` is what the page has. Throws NOT_FOUND for an emitter of another account.
   */
  search(who: Principal, request: EventSearchRequest): Promise<Page<EventRecord>>;
  /** Log lines of the newest runs, newest first. */
  logLines(who: Principal, emitterId: string, limit: number): Promise<NewestLines>;
  /** Both ends are included; an absent one is open. */
  delete(who: Principal, emitterId: string, range: { startId?: string; endId?: string }): Promise<void>;
}
