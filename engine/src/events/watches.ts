import { LIMITS } from '@headwater/shared';
import { every } from '../db/index.ts';
import { comparePositions, type EventPosition } from './event-id.ts';

/** The newest position of an emitter, as far as this node knows. */
export interface Watch {
  /** Undefined: the emitter is gone. */
  last(): EventPosition | undefined;
  /** Resolves when `last` has changed, after `waitMs`, or when `signal` fires. */
  changed(waitMs: number, signal: AbortSignal): Promise<void>;
  /** Idempotent. */
  close(): void;
}

export interface Watches {
  open(emitterId: string): Promise<Watch>;
  /** For commits of this node: its streams do not wait for the poll. */
  committed(emitterId: string, last: EventPosition | undefined): void;
  stop(): Promise<void>;
}

export interface WatchesOptions {
  /** The newest positions of those that are there. */
  readLast: (emitterIds: readonly string[]) => Promise<Map<string, EventPosition>>;
  onError: (error: unknown) => void;
  /** Default: LIMITS.streamPollMs. */
  pollMs?: number;
}

interface Entry {
  last: EventPosition | undefined;
  watchers: number;
  waiting: Set<() => void>;
}

/**
 * Tracks the newest positions of the followed emitters. Commits of other nodes are found by one
 * query for all of them, a few times a second and only while streams are open. A NOTIFY in each
 * commit would take a lock that all commits of the database wait for.
 */
export function createWatches({ readLast, onError, pollMs = LIMITS.streamPollMs }: WatchesOptions): Watches {
  const entries = new Map<string, Entry>();

  function move(entry: Entry, last: EventPosition | undefined): void {
    if (last !== undefined && entry.last !== undefined && comparePositions(last, entry.last) <= 0) return;
    entry.last = last;
    for (const wake of entry.waiting) wake();
  }

  async function poll(): Promise<void> {
    if (entries.size === 0) return;
    const asked = new Map(entries);
    const found = await readLast([...asked.keys()]);
    for (const [id, entry] of asked) move(entry, found.get(id));
  }

  const stop = every(pollMs, poll, onError);
  return {
    async open(emitterId) {
      const entry = entries.get(emitterId) ?? { last: undefined, watchers: 0, waiting: new Set() };
      entries.set(emitterId, entry);
      entry.watchers++;
      const close = once(() => {
        entry.watchers--;
        if (entry.watchers === 0) entries.delete(emitterId);
      });
      try {
        move(entry, (await readLast([emitterId])).get(emitterId));
      } catch (error) {
        close();
        throw error;
      }
      return { last: () => entry.last, changed: (waitMs, signal) => waitFor(entry, waitMs, signal), close };
    },
    committed(emitterId, last) {
      const entry = entries.get(emitterId);
      if (entry !== undefined && last !== undefined) move(entry, last);
    },
    stop,
  };
}

function waitFor({ waiting }: Entry, waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(wake, waitMs);
    function wake(): void {
      clearTimeout(timer);
      waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    }
    waiting.add(wake);
    signal.addEventListener('abort', wake);
  });
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
