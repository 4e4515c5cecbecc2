import { type DedupeStrategy, type EmittedEvent, LIMITS } from '@headwater/shared';
import { type EventPosition, nextPosition, storableText } from '../../events/index.ts';

/** Why something that was emitted did not get somewhere; as in the table missed_events. */
type MissedReason =
  | 'paused'
  | 'too_many_hops'
  | 'backlog_full'
  | 'hold_full'
  | 'filter_too_costly'
  | 'deduped'
  | 'more';

/** Events of one emitter that were missed in one commit for one reason. */
interface Missed {
  reason: MissedReason;
  accountId: string;
  invocationId: string | null;
  traceId: string | null;
  listenerId: string | null;
  channel: string;
  fromSeq: number | null;
  toSeq: number | null;
  emitIds: string[];
  /** By which the events were known. */
  dedupe: DedupeStrategy | null;
  count: number;
}

export interface MissedRow extends Missed {
  emitterId: string;
  position: EventPosition;
}

/** Events of one run and channel: from `first` on, up to the number `toSeq`. */
interface Range {
  first: {
    accountId: string;
    emitterId: string;
    position: EventPosition;
    invocationId: string | null;
    channel: string;
  };
  toSeq: number;
  count: number;
}

/**
 * Collects what one commit found to be missed. Events that a stopped listener misses are one row
 * for the whole commit: all events that an emitter gets in one commit have ids of the same
 * millisecond and follow each other, so a range names them.
 */
export interface MissedEvents {
  paused(range: Range, listenerId: string): void;
  tooManyHops(range: Range, listenerId: string, traceId: string | undefined): void;
  backlogFull(range: Range, listenerId: string, traceId: string | undefined): void;
  /** It is stopped, and the account has as much on hold as it may. */
  holdFull(range: Range, listenerId: string, traceId: string | undefined): void;
  filterTooCostly(range: Range, listenerId: string, traceId: string | undefined): void;
  deduped(
    run: {
      accountId: string;
      emitterId: string;
      invocationId: string | undefined;
      traceId: string | undefined;
      dedupe: DedupeStrategy | undefined;
    },
    emitIds: readonly string[],
  ): void;
  emitters(): Iterable<string>;
  /** With positions after `last`, which grows with them. */
  rows(emitterId: string, last: EventPosition, nowMs: number): { rows: MissedRow[]; last: EventPosition };
}

export function collectMissed(): MissedEvents {
  const byEmitter = new Map<string, Map<string, Missed>>();

  /** `maxRows`: beyond this many rows of the emitter only their number is recorded. */
  function find(
    emitterId: string,
    key: string,
    count: number,
    make: () => Missed,
    maxRows: number = LIMITS.maxMissedRows,
  ): Missed {
    const ofEmitter = byEmitter.get(emitterId) ?? new Map<string, Missed>();
    byEmitter.set(emitterId, ofEmitter);
    const isFull = ofEmitter.size >= maxRows && !ofEmitter.has(key);
    const found = ofEmitter.get(isFull ? 'more' : key) ?? (isFull ? { ...make(), ...NOBODY } : make());
    ofEmitter.set(isFull ? 'more' : key, found);
    found.count += count;
    return found;
  }

  /** Counts by run, unlike events that a stopped listener misses. */
  function unheardOfRun(reason: MissedReason, range: Range, listenerId: string, traceId: string | undefined): void {
    const { emitterId, invocationId, channel } = range.first;
    const make = () => ({ ...unheard(reason, range, listenerId), invocationId, traceId: traceId ?? null });
    extend(find(emitterId, `${reason} ${invocationId} ${listenerId} ${channel}`, range.count, make), range);
  }

  return {
    paused(range, listenerId) {
      const { emitterId, channel } = range.first;
      const make = () => unheard('paused', range, listenerId);
      extend(find(emitterId, `paused ${listenerId} ${channel}`, range.count, make), range);
    },
    tooManyHops: (range, listenerId, traceId) => unheardOfRun('too_many_hops', range, listenerId, traceId),
    backlogFull: (range, listenerId, traceId) => unheardOfRun('backlog_full', range, listenerId, traceId),
    holdFull: (range, listenerId, traceId) => unheardOfRun('hold_full', range, listenerId, traceId),
    filterTooCostly: (range, listenerId, traceId) => unheardOfRun('filter_too_costly', range, listenerId, traceId),
    deduped({ accountId, emitterId, invocationId, traceId, dedupe = null }, emitIds) {
      if (emitIds.length === 0) return;
      const make = () => ({
        ...NOBODY,
        reason: 'deduped' as const,
        accountId,
        invocationId: invocationId ?? null,
        traceId: traceId ?? null,
        emitIds: emitIds.slice(0, LIMITS.maxMissedIds).map((id) => id.slice(0, LIMITS.maxMissedIdChars)),
        dedupe,
        count: 0,
      });
      // One row for each run, because it answers "where is my event?": none is left out.
      find(emitterId, `deduped ${invocationId ?? ''}`, emitIds.length, make, Number.POSITIVE_INFINITY);
    },
    emitters: () => byEmitter.keys(),
    rows(emitterId, before, nowMs) {
      let last = before;
      const rows = [...(byEmitter.get(emitterId)?.values() ?? [])].map((missed) => {
        last = nextPosition(last, nowMs);
        return { ...missed, emitterId, position: last };
      });
      return { rows, last };
    },
  };
}

/** Ids of the events that were not accepted. */
export function droppedIds(emits: readonly EmittedEvent[], accepted: readonly EmittedEvent[]): string[] {
  if (accepted.length === emits.length) return [];
  const kept = new Set(accepted);
  return emits.filter((event) => !kept.has(event)).map(({ id }) => storableText(String(id ?? '')));
}

function unheard(reason: MissedReason, { first }: Range, listenerId: string): Missed {
  return {
    reason,
    accountId: first.accountId,
    invocationId: null,
    traceId: null,
    listenerId,
    channel: first.channel,
    fromSeq: first.position.seq,
    toSeq: first.position.seq,
    emitIds: [],
    dedupe: null,
    count: 0,
  };
}

/** Ranges of events that filters told apart lie within each other. */
function extend(missed: Missed, { toSeq }: Range): void {
  missed.toSeq = Math.max(missed.toSeq ?? toSeq, toSeq);
}

const NOBODY = {
  reason: 'more' as MissedReason,
  invocationId: null,
  traceId: null,
  listenerId: null,
  channel: '',
  fromSeq: null,
  toSeq: null,
  emitIds: [],
  dedupe: null,
};
