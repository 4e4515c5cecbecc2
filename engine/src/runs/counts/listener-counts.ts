/**
 * How many webhooks, sources and workflows listen to each emitter, about: what an event of it
 * weighs in a commit.
 */
export interface ListenerCounts {
  /** Resolves once a count is known, for all callers in the order of their calls. Never rejects. */
  learn(accountId: string, emitterId: string): Promise<void>;
  /** The last known count; 0 if there is none. */
  of(emitterId: string): number;
}

/** An older count is read again; the old one is used meanwhile. */
const TRUST_MS = 10_000;
const MAX_EMITTERS = 50_000;

export function createListenerCounts(read: (accountId: string, emitterId: string) => Promise<number>): ListenerCounts {
  const known = new Map<string, { count: number; atMs: number }>();
  const reading = new Map<string, Promise<void>>();

  async function refresh(accountId: string, emitterId: string): Promise<void> {
    const count = await read(accountId, emitterId).catch(() => known.get(emitterId)?.count ?? 0);
    if (known.size >= MAX_EMITTERS) known.clear();
    known.set(emitterId, { count, atMs: performance.now() });
    reading.delete(emitterId);
  }

  function readOnce(accountId: string, emitterId: string): Promise<void> {
    const current = reading.get(emitterId) ?? refresh(accountId, emitterId);
    reading.set(emitterId, current);
    return current;
  }

  return {
    async learn(accountId, emitterId) {
      const found = known.get(emitterId);
      if (found === undefined) await readOnce(accountId, emitterId);
      else if (performance.now() - found.atMs > TRUST_MS) void readOnce(accountId, emitterId);
    },
    of: (emitterId) => known.get(emitterId)?.count ?? 0,
  };
}
