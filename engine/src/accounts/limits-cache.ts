import { type AccountLimits, accountLimits } from '@headwater/shared';

/** The limits of accounts, in memory: they are asked for at every request and every run. */
export interface LimitsCache {
  /** The node's own, which hold where an account has nothing set. */
  defaults: AccountLimits;
  /** The cached limits; undefined if the account has not been read yet. */
  known(accountId: string): AccountLimits | undefined;
  /** Reads the limits unless they are cached. Concurrent callers share one read. */
  get(accountId: string): AccountLimits | Promise<AccountLimits>;
  /** Reads cached limits again; resolves once the new ones hold. Until then the old ones hold. */
  refresh(accountId: string): Promise<void>;
  /** Everything may have changed. */
  forgetAll(): void;
  /**
   * Whether the operator has suspended the account, as of its last read; false where there was
   * none.
   */
  isSuspended(accountId: string): boolean;
  /**
   * Whether the account wants traces of its callers taken in and passed on, as of its last read.
   */
  passesTraces(accountId: string): boolean;
  /** Tells of each account that was found suspended, and of each that no longer is. */
  onSuspension(listener: (accountId: string, isSuspended: boolean) => void): void;
}

export interface LimitsCacheOptions {
  /** The limits set for the account; undefined if the account does not exist. */
  read: (
    accountId: string,
  ) => Promise<(Partial<AccountLimits> & { isSuspended?: boolean; passesTraces?: boolean }) | undefined>;
  /** Limits that this node sets for all accounts. Default: none. */
  defaults?: Partial<AccountLimits>;
}

/** Accounts without limits of their own share one object, so this is some megabytes at most. */
const MAX_ACCOUNTS = 100_000;

interface Entry {
  limits: AccountLimits | undefined;
  passesTraces: boolean;
  /** The read that `limits` are from: one that was started later has seen more changes. */
  seen: number;
  /** The read that was started last, until it ends. */
  reading: Promise<AccountLimits> | undefined;
}

export function createLimitsCache(options: LimitsCacheOptions): LimitsCache {
  const defaults = accountLimits(options.defaults ?? {});
  const entries = new Map<string, Entry>();
  // Survives forgetAll: an account stays suspended until a read says otherwise.
  const suspended = new Set<string>();
  const listeners: ((accountId: string, isSuspended: boolean) => void)[] = [];
  let reads = 0;

  function noteSuspension(accountId: string, isSuspended: boolean): void {
    if (suspended.has(accountId) === isSuspended) return;
    if (isSuspended) suspended.add(accountId);
    else suspended.delete(accountId);
    for (const listener of listeners) listener(accountId, isSuspended);
  }

  function startRead(accountId: string, entry: Entry): Promise<AccountLimits> {
    const number = ++reads;
    const reading = options.read(accountId).then(
      (found) => {
        // Nothing of an account that is gone goes on.
        const { isSuspended = found === undefined, passesTraces = false, ...set } = found ?? {};
        const limits = Object.keys(set).length === 0 ? defaults : accountLimits(defaults, set);
        const isNewest = number > entry.seen;
        if (isNewest) Object.assign(entry, { limits, passesTraces, seen: number });
        if (entry.reading === reading) entry.reading = undefined;
        if (isNewest && entries.get(accountId) === entry) noteSuspension(accountId, isSuspended);
        return limits;
      },
      (error: unknown) => {
        // Also drop the cached limits: they may be the ones that changed.
        if (entry.reading === reading && entries.get(accountId) === entry) entries.delete(accountId);
        throw error;
      },
    );
    entry.reading = reading;
    return reading;
  }

  function entryOf(accountId: string): Entry {
    const known = entries.get(accountId);
    if (known !== undefined) return known;
    if (entries.size >= MAX_ACCOUNTS) entries.clear();
    const entry: Entry = { limits: undefined, passesTraces: false, seen: 0, reading: undefined };
    entries.set(accountId, entry);
    return entry;
  }

  return {
    defaults,
    known: (accountId) => entries.get(accountId)?.limits,
    get(accountId) {
      const entry = entryOf(accountId);
      return entry.limits ?? entry.reading ?? startRead(accountId, entry);
    },
    async refresh(accountId) {
      const entry = entries.get(accountId);
      if (entry !== undefined) await startRead(accountId, entry);
    },
    forgetAll() {
      entries.clear();
      // Nothing of theirs would ask: it waits to be told that they go on. What fails is asked for
      // by the next request or lane of the account.
      for (const accountId of suspended) startRead(accountId, entryOf(accountId)).catch(() => undefined);
    },
    isSuspended: (accountId) => suspended.has(accountId),
    passesTraces: (accountId) => entries.get(accountId)?.passesTraces ?? false,
    onSuspension: (listener) => void listeners.push(listener),
  };
}
