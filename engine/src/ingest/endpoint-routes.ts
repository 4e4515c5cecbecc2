import type { EndpointRoute } from '../contract/index.ts';
import { createBatcher } from '../db/index.ts';

/** Routes of endpoints, kept in memory. */
export interface EndpointRoutes {
  /** Undefined for an unknown key or a stopped source. */
  get(endpointKey: string): EndpointRoute | Promise<EndpointRoute | undefined> | undefined;
  forgetSource(sourceId: string): void;
  forgetAll(): void;
}

export interface EndpointRoutesOptions {
  /** Those of the keys that lead somewhere. */
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, EndpointRoute>>;
  nowMs: () => number;
}

const MAX_CACHED_ROUTES = 50_000;
/** Keys that lead nowhere are remembered for this long: what hammers one costs no query. */
const UNKNOWN_MS = 2_000;
const MAX_UNKNOWN = 10_000;
/**
 * Lookups of uncached keys are batched, one query at a time. However many forged keys arrive, they
 * take one connection and one query per interval.
 */
const MAX_BATCH = 256;
const MIN_INTERVAL_MS = 2;

export function createEndpointRoutes(options: EndpointRoutesOptions): EndpointRoutes {
  const routes = new Map<string, EndpointRoute>();
  const unknown = new Map<string, number>();
  let forgotten = 0;
  const reads = createBatcher<string, EndpointRoute | undefined>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    commit: async (keys) => {
      const found = await options.read(keys);
      return keys.map((key) => found.get(key));
    },
  });

  async function read(endpointKey: string): Promise<EndpointRoute | undefined> {
    const forgottenBefore = forgotten;
    const found = await reads.add(endpointKey);
    // A change that came while we read may have made the answer old: it serves this request but is
    // not kept.
    if (forgotten !== forgottenBefore) return found;
    if (found === undefined) {
      if (unknown.size >= MAX_UNKNOWN) unknown.clear();
      unknown.set(endpointKey, options.nowMs() + UNKNOWN_MS);
    } else {
      if (routes.size >= MAX_CACHED_ROUTES) routes.clear();
      routes.set(endpointKey, found);
    }
    return found;
  }

  return {
    get(endpointKey) {
      const known = routes.get(endpointKey);
      if (known !== undefined) return known;
      const untilMs = unknown.get(endpointKey);
      if (untilMs !== undefined && untilMs > options.nowMs()) return undefined;
      return read(endpointKey);
    },
    forgetSource(sourceId) {
      forgotten++;
      // Which keys the change has made known cannot be told.
      unknown.clear();
      for (const [key, route] of routes) {
        if (route.sourceId === sourceId) routes.delete(key);
      }
    },
    forgetAll() {
      forgotten++;
      unknown.clear();
      routes.clear();
    },
  };
}
