/** How many webhooks, sources and workflows listen to each emitter, about: what an event of it weighs in a commit. */
export interface ListenerCounts {
  /** Resolves once something is known of it. Never rejects. */
  learn(accountId: string, emitterId: string): Promise<void>;
  /** What was read last; 0 where nothing is known. */
  of(emitterId: string): number;
}

/** What is older is read anew, while the old count is still used. */
const TRUST_MS = 10_000;
const MAX_EMITTERS = 50_000;

export function createListenerCounts(read: (accountId: string, emitterId: string) => Promise<number>): ListenerCounts {
  const known = new Map<string, { count: number; atMs: number }>();

  async function refresh(accountId: string, emitterId: string): Promise<void> {
    const before = known.get(emitterId);
    // At once: others that ask meanwhile go by what was known before.
    if (before !== undefined) before.atMs = performance.now();
    const count = await read(accountId, emitterId).catch(() => before?.count ?? 0);
    if (known.size >= MAX_EMITTERS) known.clear();
    known.set(emitterId, { count, atMs: performance.now() });
  }

  return {
    async learn(accountId, emitterId) {
      const found = known.get(emitterId);
      if (found === undefined) await refresh(accountId, emitterId);
      else if (performance.now() - found.atMs > TRUST_MS) void refresh(accountId, emitterId);
    },
    of: (emitterId) => known.get(emitterId)?.count ?? 0,
  };
}
