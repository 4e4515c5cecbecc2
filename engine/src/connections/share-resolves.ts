import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { AccountContext } from './account-context.ts';
import { type AuthOutcome, resolveAccount, type ResolveOptions } from './resolve-auth.ts';

/** `resolveAccount` for all who ask on this node, the API and runs. */
export interface AccountResolver {
  resolve(accountId: string, id: string, options?: SharedOptions): Promise<AuthOutcome>;
  /** After a change: who asks from now on gets what was read later than this. */
  forget(id: string): void;
  forgetAll(): void;
}

interface SharedOptions extends ResolveOptions {
  /** For one for whom many wait: it goes on before those who waited for the same. */
  goesFirst?: boolean;
}

/** One lookup, shared by all callers that ask for the same account meanwhile. */
interface Look {
  id: string;
  outcome: Promise<AuthOutcome>;
  isStale: boolean;
  /** Callers that joined after the first. */
  followers: number;
  /** For those who came once it was stale. */
  next?: Promise<AuthOutcome>;
}

/**
 * However many ask for an account at the same time, it is looked up once: while it waits for a
 * token it polls the database, which a thousand at once would keep from everybody else. At most one
 * look is under way, and one waits behind it, so that changes made again and again do not add
 * further ones. Those who waited go on a few at a time, as requests do that come at once: each of
 * them makes an answer of it.
 */
export function createAccountResolver(context: AccountContext): AccountResolver {
  const looks = new Map<string, Look>();

  function resolve(accountId: string, id: string, options: SharedOptions = {}): Promise<AuthOutcome> {
    const key = JSON.stringify([accountId, id, options.renew === true]);
    const look = looks.get(key);
    if (look === undefined) return begin(key, accountId, id, options);
    if (!look.isStale) return options.goesFirst === true ? look.outcome : follow(look, look.outcome);
    const again = () => resolve(accountId, id, options);
    // How the stale one ended is told to those who asked for it.
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
