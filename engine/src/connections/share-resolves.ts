import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { AccountContext } from './account-context.ts';
import { type AuthOutcome, resolveAccount, type ResolveOptions } from './resolve-auth.ts';

/** `resolveAccount`, shared by all callers on this node, the API and runs. */
export interface AccountResolver {
  resolve(accountId: string, id: string, options?: SharedOptions): Promise<AuthOutcome>;
  /** After a change: later callers get a result that is read after this call. */
  forget(id: string): void;
  forgetAll(): void;
}

interface SharedOptions extends ResolveOptions {
  /**
   * For a caller on which many others wait: it continues before other callers of the same lookup.
   */
  goesFirst?: boolean;
}

/** One lookup, shared by all callers that ask for the same account meanwhile. */
interface Look {
  id: string;
  outcome: Promise<AuthOutcome>;
  isStale: boolean;
  /** Callers that joined after the first. */
  followers: number;
  /** The next lookup, for callers that came after this one was stale. */
  next?: Promise<AuthOutcome>;
}

/**
 * Shares one lookup between all callers that ask for an account at the same time. A lookup that
 * waits for a token polls the database; a thousand of them would block other tenants. At most one
 * lookup runs and one waits behind it, so repeated changes add no more. The callers then continue a
 * few at a time, like requests that come at once, since each of them makes a response.
 */
export function createAccountResolver(context: AccountContext): AccountResolver {
  const looks = new Map<string, Look>();

  function resolve(accountId: string, id: string, options: SharedOptions = {}): Promise<AuthOutcome> {
    const key = JSON.stringify([accountId, id, options.renew === true]);
    const look = looks.get(key);
    if (look === undefined) return begin(key, accountId, id, options);
    if (!look.isStale) return options.goesFirst === true ? look.outcome : follow(look, look.outcome);
    const again = () => resolve(accountId, id, options);
    // The outcome of the stale lookup goes only to the callers that asked for it.
    look.next ??= look.outcome.then(again, again);
    return options.goesFirst === true ? look.next : follow(look, look.next);
  }

  async function follow(look: Look, outcome: Promise<AuthOutcome>): Promise<AuthOutcome> {
    const restMs = Math.floor(look.followers++ / LIMITS.requestsAtOnce) * LIMITS.requestsRestMs;
    try {
      return await outcome;
    } finally {
      if (restMs > 0) await sleep(restMs);
    }
  }

  function begin(key: string, accountId: string, id: string, options: ResolveOptions): Promise<AuthOutcome> {
    const outcome = resolveAccount(context, accountId, id, options).finally(() => looks.delete(key));
    looks.set(key, { id, outcome, isStale: false, followers: 0 });
    return outcome;
  }

  return {
    resolve,
    forget(id) {
      for (const look of looks.values()) if (look.id === id) look.isStale = true;
    },
    forgetAll() {
      for (const look of looks.values()) look.isStale = true;
    },
  };
}
