import { LIMITS } from '@headwater/shared';
import { FairCache } from '../fairness/index.ts';
import type { AuthOutcome } from './resolve-auth.ts';
import type { AccountResolver } from './share-resolves.ts';
import { authOf, secretsOf } from './stored-credentials.ts';
import type { SecretValue } from '../secrets/index.ts';

/**
 * The `$auth` value of an app prop in a run. The object is the same as long as the credentials are.
 */
interface ResolvedAuth {
  /** The app's slug. */
  app: string;
  auth: Record<string, unknown>;
  /** Values that must not leave the run, named after the prop. */
  secrets: (prop: string) => SecretValue[];
}

type ResolvedOutcome = { ok: true; resolved: ResolvedAuth } | { ok: false; message: string };

/** `$auth` of connected accounts, for runs. */
export interface AuthCache {
  /** `app`: the slug that the prop declares; another app's account is refused. */
  resolve(accountId: string, id: string, app: string): Promise<ResolvedOutcome>;
  /** After a change, on every node (LISTEN). */
  forget(id: string): void;
  forgetAll(): void;
}

const MAX_CACHED = 2_000;
/** A flood of events for an account that does not work asks its provider once in this time. */
const FAILURE_TRUST_MS = 2_000;
/**
 * Memory of an entry besides its texts. Those have about as many characters as the sealed text, at
 * two bytes each.
 */
const ENTRY_BYTES = 4_096;
const FAILURE_BYTES = 1_024;
/** Hundreds of clients may wait for the same token. */
const RUNS = { goesFirst: true };

interface Entry {
  outcome: ResolvedOutcome;
  untilMs: number;
  weight: number;
}

interface Slot {
  accountId: string;
  loading: Promise<Entry>;
}

/**
 * Caches resolved credentials until shortly before the token expires. Concurrent callers share one
 * lookup.
 */
export function createAuthCache(resolver: AccountResolver): AuthCache {
  const slots = new FairCache<string, Slot>({ maxCount: MAX_CACHED, maxWeight: LIMITS.maxCachedAuthBytes });

  function load(accountId: string, id: string): Promise<Entry> {
    const slot: Slot = { accountId, loading: resolver.resolve(accountId, id, RUNS).then(entryOf) };
    slots.set(accountId, id, slot, 0);
    slot.loading.then(
      ({ weight }) => slots.weigh(id, slot, weight),
      // Not remembered; the callers see it.
      () => slots.delete(id, slot),
    );
    return slot.loading;
  }

  async function current(accountId: string, id: string): Promise<ResolvedOutcome> {
    const slot = slots.get(id);
    // An id of another account bypasses the cache: the database answers that it does not exist, and
    // no entry changes.
    if (slot !== undefined && slot.accountId !== accountId) {
      return entryOf(await resolver.resolve(accountId, id, RUNS)).outcome;
    }
    if (slot !== undefined) {
      const entry = await slot.loading;
      if (Date.now() < entry.untilMs) return entry.outcome;
      slots.delete(id, slot);
    }
    const newer = slots.get(id);
    return (await (newer?.accountId === accountId ? newer.loading : load(accountId, id))).outcome;
  }

  return {
    async resolve(accountId, id, app) {
      const outcome = await current(accountId, id);
      if (!outcome.ok || outcome.resolved.app === app) return outcome;
      const message = `The connected account ${id} is one of ${outcome.resolved.app}, and the prop needs one of ${app}`;
      return { ok: false, message };
    },
    forget(id) {
      resolver.forget(id);
      slots.delete(id);
    },
    forgetAll() {
      resolver.forgetAll();
      slots.clear();
    },
  };
}

function entryOf(outcome: AuthOutcome): Entry {
  if (!outcome.ok) return { outcome, untilMs: Date.now() + FAILURE_TRUST_MS, weight: FAILURE_BYTES };
  const { row, credentials, validMs } = outcome.account;
  const { definition } = row;
  const auth = authOf(credentials);
  const resolved = { app: definition.slug, auth, secrets: (prop: string) => secretsOf(prop, definition, credentials) };
  const weight = ENTRY_BYTES + 2 * row.credentials.length;
  return { outcome: { ok: true, resolved }, untilMs: Date.now() + validMs, weight };
}
