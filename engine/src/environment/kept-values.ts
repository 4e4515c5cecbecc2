import { FairCache } from '../fairness/index.ts';

/** By name; null being one that is not there. */
export type Values = ReadonlyMap<string, string | null>;

export interface KeptValues {
  /** Undefined if the cache does not know whether the variable exists. */
  get(accountId: string, name: string): string | null | undefined;
  keep(accountId: string, values: Values): void;
  forget(accountId: string): void;
  forgetAll(): void;
}

/** Approximate bytes of an entry besides its value, as measured. */
const ENTRY_BYTES = 350;
/** Forgetting those of one account takes a few milliseconds. */
const MAX_VALUES = 20_000;

/** Values of variables of all accounts, bounded by their total size. */
export function createKeptValues(maxBytes: number): KeptValues {
  const cache = new FairCache<string, string | null>({ maxWeight: maxBytes, maxCount: MAX_VALUES });
  const keyOf = (accountId: string, name: string) => `${accountId} ${name}`;
  return {
    get: (accountId, name) => cache.get(keyOf(accountId, name)),
    keep(accountId, values) {
      for (const [name, value] of values) {
        cache.set(accountId, keyOf(accountId, name), value, ENTRY_BYTES + 2 * (value?.length ?? 0));
      }
    },
    forget: (accountId) => cache.deleteAccount(accountId),
    forgetAll: () => cache.clear(),
  };
}
