import type { Principal } from '../contract.ts';

/** Whose key it is, remembered for a moment; see CACHE_MS for what that means for revoked keys. */
export interface KeyCache {
  /** `look` is called once for callers that ask at the same time. What is not found, or fails, is not remembered. */
  find(keyHash: string, look: () => Promise<Principal | undefined>): Promise<Principal | undefined>;
  /** Whether it was somebody's when it was last looked up, however long ago that was. */
  wasFound(keyHash: string): boolean;
  forget(keyHash: string): void;
}

/** A key revoked through another node works on this one for at most this long. */
const CACHE_MS = 5_000;
const MAX_KEYS = 10_000;

interface Entry {
  principal: Promise<Principal | undefined>;
  expiresAtMs: number;
  found: boolean;
}

export function createKeyCache(nowMs: () => number = Date.now): KeyCache {
  // In the order of insertion, which is the order of expiry.
  const entries = new Map<string, Entry>();

  function remember(keyHash: string, principal: Promise<Principal | undefined>): void {
    const found = entries.get(keyHash)?.found ?? false;
    const entry: Entry = { principal, expiresAtMs: nowMs() + CACHE_MS, found };
    entries.delete(keyHash);
    entries.set(keyHash, entry);
    const forgetThis = () => {
      if (entries.get(keyHash) === entry) entries.delete(keyHash);
    };
    // Unknown keys would let anybody fill the cache. A failure is the caller's to report.
    principal.then((who) => {
      if (who === undefined) forgetThis();
      else entry.found = true;
    }, forgetThis);
    const oldest = entries.keys().next();
    if (entries.size > MAX_KEYS && !oldest.done) entries.delete(oldest.value);
  }

  return {
    find(keyHash, look) {
      const entry = entries.get(keyHash);
      if (entry !== undefined && entry.expiresAtMs > nowMs()) return entry.principal;
      // In the map before the query is sent: forget() after a revocation also drops an answer that is still on its way.
      const principal = look();
      remember(keyHash, principal);
      return principal;
    },
    wasFound: (keyHash) => entries.get(keyHash)?.found ?? false,
    forget: (keyHash) => void entries.delete(keyHash),
  };
}
