import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { Stream } from '../../contract/index.ts';
import type { EventPosition, Watch } from '../../events/index.ts';

interface Batch<T, C> {
  items: T[];
  /** Start of the next read: everything up to here was delivered. */
  cursor: C;
  /** There may be more before `last`. */
  isFull: boolean;
}

export interface ReaderOptions<T, C> {
  watch: Watch;
  /** Everything up to here was delivered before. */
  cursor: C;
  /** Whether the emitter's newest position is behind the cursor. */
  isAfter: (last: EventPosition, cursor: C) => boolean;
  /**
   * Additional poll interval, for changes that do not move the emitter's position. Default: never.
   */
  everyMs?: number;
  /** Reads items after the cursor, oldest first. Everything up to `last` is visible. */
  read: (cursor: C, last: EventPosition, signal: AbortSignal) => Promise<Batch<T, C>>;
  /** Called with the items that are given, and with none when those before have been taken. */
  onHeld: (items: readonly T[]) => void;
  /** Called once, when the stream is closed. */
  onClose: () => void;
}

/**
 * Reads on from a position whenever newer items exist. Positions of an emitter grow in the order of
 * their commits. So no item is skipped or repeated, whichever nodes commit, and however late the
 * next call comes.
 */
export function createReader<T, C>(options: ReaderOptions<T, C>): Stream<T> {
  const { watch, isAfter, read, onHeld, onClose, everyMs = Number.POSITIVE_INFINITY } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let { cursor } = options;
  let readAtMs = 0;
  // Starts as true: if a client resumes inside a run, the rest of its lines has the same position
  // as the cursor.
  let mayHaveMore = true;

  async function readOn(last: EventPosition): Promise<T[]> {
    const pauseMs = readAtMs + LIMITS.streamPauseMs - Date.now();
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return [];
    const batch = await read(cursor, last, signal);
    readAtMs = Date.now();
    cursor = batch.cursor;
    mayHaveMore = batch.isFull;
    return batch.items;
  }

  return {
    async next(waitMs) {
      onHeld([]);
      const untilMs = Date.now() + waitMs;
      while (!signal.aborted) {
        const last = watch.last();
        if (last === undefined) break;
        if (mayHaveMore || isAfter(last, cursor)) {
          const items = await readOn(last);
          if (signal.aborted) break;
          onHeld(items);
          // Returns also without items while it scans many events of other channels: the client
          // must see that the stream is alive.
          if (items.length > 0 || Date.now() >= untilMs) return items;
        } else {
          const leftMs = untilMs - Date.now();
          if (leftMs <= 0) return [];
          await watch.changed(Math.min(leftMs, everyMs), signal);
          mayHaveMore = everyMs !== Number.POSITIVE_INFINITY;
        }
      }
      return undefined;
    },
    close() {
      if (signal.aborted) return;
      closing.abort();
      onHeld([]);
      watch.close();
      onClose();
    },
  };
}
