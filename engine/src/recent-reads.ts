export interface RecentReads<T> {
  /** Undefined where there is none; that is not remembered. */
  get(id: string): Promise<T | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

export interface RecentReadsOptions<T> {
  read: (id: string) => Promise<T | undefined>;
  maxCount: number;
  /** What all together may weigh; a single one may be heavier. Default: any weight. */
  maxWeight?: number;
  weightOf?: (value: T) => number;
}

interface Entry<T> {
  loading: Promise<T | undefined>;
  /** 0 until it is there. */
  weight: number;
}

/** Keeps the most recently used values, as many as the bounds allow; concurrent first uses share one read. */
export function createRecentReads<T>(options: RecentReadsOptions<T>): RecentReads<T> {
  const { read, maxCount, maxWeight = Number.POSITIVE_INFINITY, weightOf = () => 0 } = options;
  const cache = new Map<string, Entry<T>>();
  let weight = 0;

  function drop(id: string): void {
    weight -= cache.get(id)?.weight ?? 0;
    cache.delete(id);
  }

  function trim(): void {
    for (const id of cache.keys()) {
      if (cache.size <= maxCount && (weight <= maxWeight || cache.size === 1)) return;
      drop(id);
    }
  }

  function load(id: string): Entry<T> {
    const entry: Entry<T> = { loading: read(id), weight: 0 };
    const isKept = () => cache.get(id) === entry;
    // A failed or empty read is not remembered; the caller sees the error.
    const fail = () => isKept() && drop(id);
    entry.loading.then((value) => {
      if (value === undefined) return fail();
      if (!isKept()) return;
      entry.weight = weightOf(value);
      weight += entry.weight;
      trim();
    }, fail);
    return entry;
  }

  return {
    get(id) {
      const entry = cache.get(id) ?? load(id);
      cache.delete(id);
      cache.set(id, entry);
      trim();
      return entry.loading;
    },
    forget: drop,
    forgetAll() {
      cache.clear();
      weight = 0;
    },
  };
}
