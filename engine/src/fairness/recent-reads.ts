import { FairCache } from './fair-cache.ts';

export interface RecentReads<T> {
  /** Undefined if it does not exist; that is not cached. */
  get(id: string): Promise<T | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

export interface RecentReadsOptions<T> {
  read: (id: string) => Promise<T | undefined>;
  /** Account whose part of the cache the value uses. */
  accountOf: (value: T) => string;
  maxCount: number;
  /** Maximum weight of all values; a heavier value is read each time. Default: no maximum. */
  maxWeight?: number;
  weightOf?: (value: T) => number;
}

/**
 * Caches the most recently used values within the bounds. An account that takes more than half
 * loses its own values first (FairCache). Concurrent first uses share one read.
 */
export function createRecentReads<T>(options: RecentReadsOptions<T>): RecentReads<T> {
  const { read, accountOf, maxCount, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = options;
  const cache = new FairCache<string, T>({ maxCount, maxWeight });
  const reads = new Map<string, Promise<T | undefined>>();

  function begin(id: string): Promise<T | undefined> {
    const reading = read(id);
    reads.set(id, reading);
    const end = (value?: T) => {
      // Forgotten meanwhile: the value may be older than the change.
      if (reads.get(id) !== reading) return;
      reads.delete(id);
      if (value !== undefined) cache.set(accountOf(value), id, value, weightOf(value));
    };
    // A failed read is not remembered; the caller sees the error.
    reading.then(end, () => end());
    return reading;
  }

  return {
    get(id) {
      const kept = cache.get(id);
      return kept === undefined ? (reads.get(id) ?? begin(id)) : Promise.resolve(kept);
    },
    forget(id) {
      reads.delete(id);
      cache.delete(id);
    },
    forgetAll() {
      reads.clear();
      cache.clear();
    },
  };
}
