export interface RecentReads<T> {
  /** Undefined where there is none; that is not remembered. */
  get(id: string): Promise<T | undefined>;
  forget(id: string): void;
  forgetAll(): void;
}

/** Keeps the `max` most recently used values; concurrent first uses share one read. */
export function createRecentReads<T>(max: number, read: (id: string) => Promise<T | undefined>): RecentReads<T> {
  const cache = new Map<string, Promise<T | undefined>>();

  function load(id: string): Promise<T | undefined> {
    const loading = read(id);
    const drop = () => {
      if (cache.get(id) === loading) cache.delete(id);
    };
    // A failed or empty read is not remembered; the caller sees the error.
    loading.then((value) => value === undefined && drop(), drop);
    return loading;
  }

  return {
    get(id) {
      const value = cache.get(id) ?? load(id);
      cache.delete(id);
      cache.set(id, value);
      if (cache.size > max) cache.delete(cache.keys().next().value as string);
      return value;
    },
    forget: (id) => void cache.delete(id),
    forgetAll: () => cache.clear(),
  };
}
