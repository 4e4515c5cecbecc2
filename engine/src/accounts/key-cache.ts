import type { Principal } from '../contract/index.ts';

/**
 * Caches the principal of a key hash. A key revoked on another node works for up to CACHE_MS here.
 */
export interface KeyCache {
  /**
   * `look` is called once for callers that ask at the same time. What is not found, or fails, is
   * not remembered.
   */
  find(keyHash: string, look: () => Promise<Principal | undefined>): Promise<Principal | undefined>;
  /** Whether it was somebody's when it was last looked up, however long ago that was. */
  wasFound(keyHash: string): boolean;
  forget(keyHash: string): void;
  /** Some account has no keys any more. */
  forgetAll(): void;
  /** Forgets those who are known already, and all who are being looked up. */
  forgetWhere(fits: (who: Principal) => boolean): void;
}

/** A key revoked through another node works on this one for at most this long. */
const CACHE_MS = 5_000;
const MAX_KEYS = 10_000;

interface Entry {
  principal: Promise<Principal | undefined>;
  expiresAtMs: number;
  /** Once the principal is known. */
  who?: Principal;
}

export function createKeyCache(nowMs: () => number = Date.now): KeyCache {
  // In the order of insertion, which is the order of expiry.
  const entries = new Map<string, Entry>();
  /**
   * Not known to be anybody's: as many as are asked for at a time, and none of them is to take the
   * place of one that is.
   */
  const pending = new Map<string, Entry>();

  function keep(keyHash: string, entry: Entry): void {
    entries.delete(keyHash);
    entries.set(keyHash, entry);
    const oldest = entries.keys().next();
    if (entries.size > MAX_KEYS && !oldest.done) entries.delete(oldest.value);
  }

  function remember(keyHash: string, principal: Promise<Principal | undefined>): void {
    const entry: Entry = { principal, expiresAtMs: nowMs() + CACHE_MS };
    const isKnown = entries.has(keyHash);
    const map = isKnown ? entries : pending;
    if (isKnown) keep(keyHash, entry);
    else pending.set(keyHash, entry);
    const settle = (who: Principal | undefined) => {
      // Forgotten meanwhile.
      if (map.get(keyHash) !== entry) return;
      if (who !== undefined) entry.who = who;
      // Unknown keys would let anybody fill the cache.
      if (who === undefined || !isKnown) map.delete(keyHash);
      if (who !== undefined && !isKnown) keep(keyHash, entry);
    };
    // A failure is the caller's to report.
    principal.then(settle, () => settle(undefined));
  }

  return {
    find(keyHash, look) {
      const entry = entries.get(keyHash) ?? pending.get(keyHash);
      if (entry !== undefined && entry.expiresAtMs > nowMs()) return entry.principal;
      // In the map before the query is sent: forget() after a revocation also drops an answer that
      // is still on its way.
      const principal = look();
      remember(keyHash, principal);
      return principal;
    },
    wasFound: (keyHash) => entries.has(keyHash),
    forgetAll() {
      entries.clear();
      pending.clear();
    },
    forgetWhere(fits) {
      for (const [keyHash, { who }] of entries) if (who === undefined || fits(who)) entries.delete(keyHash);
      pending.clear();
    },
    forget(keyHash) {
      entries.delete(keyHash);
      pending.delete(keyHash);
    },
  };
}
