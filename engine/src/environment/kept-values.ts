/** By name; undefined being one that is not there. */
export type Values = ReadonlyMap<string, string | undefined>;

export interface KeptValues {
  of(accountId: string): Values | undefined;
  keep(accountId: string, values: Values): void;
  forget(accountId: string): void;
  forgetAll(): void;
}

interface Kept {
  /** The one read longest ago first. */
  values: Map<string, string | undefined>;
  bytes: number;
}

/** What an entry takes beside its value, about. */
const ENTRY_BYTES = 200;

/** Values of variables of all accounts. Where they are too large together, the account with the most of them gives up its oldest. */
export function createKeptValues(maxBytes: number): KeptValues {
  const accounts = new Map<string, Kept>();
  let total = 0;

  function add(kept: Kept, bytes: number): void {
    kept.bytes += bytes;
    total += bytes;
  }

  function trim(): void {
    while (total > maxBytes) {
      let [heaviest] = accounts;
      for (const account of accounts) if (account[1].bytes > (heaviest?.[1].bytes ?? 0)) heaviest = account;
      if (heaviest === undefined) return;
      const [accountId, kept] = heaviest;
      for (const [name, value] of kept.values) {
        if (total <= maxBytes) break;
        kept.values.delete(name);
        add(kept, -bytesOf(value));
      }
      if (kept.values.size === 0) accounts.delete(accountId);
    }
  }

  return {
    of: (accountId) => accounts.get(accountId)?.values,
    keep(accountId, values) {
      const kept = accounts.get(accountId) ?? { values: new Map<string, string | undefined>(), bytes: 0 };
      accounts.set(accountId, kept);
      for (const [name, value] of values) {
        if (kept.values.has(name)) add(kept, -bytesOf(kept.values.get(name)));
        kept.values.delete(name);
        kept.values.set(name, value);
        add(kept, bytesOf(value));
      }
      trim();
    },
    forget(accountId) {
      total -= accounts.get(accountId)?.bytes ?? 0;
      accounts.delete(accountId);
    },
    forgetAll() {
      accounts.clear();
      total = 0;
    },
  };
}

function bytesOf(value: string | undefined): number {
  return ENTRY_BYTES + 2 * (value?.length ?? 0);
}
