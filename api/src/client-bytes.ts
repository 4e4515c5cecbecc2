/**
 * Bytes that are in memory for one account for as long as its clients like: answers that they read,
 * bodies that they send.
 */
export interface ClientBytes {
  /** `cutOff` ends it, without `end`. */
  hold(accountId: string, cutOff: () => void): Holding;
}

interface Holding {
  /** Over the account's limit, the holdings that began first are cut off until the rest fits. */
  add(bytes: number): void;
  /** Idempotent. */
  end(): void;
}

interface Held {
  bytes: number;
  cutOff: () => void;
}

interface Account {
  total: number;
  /** The oldest first. */
  open: Set<Held>;
}

export function createClientBytes(maxBytesPerAccount: number): ClientBytes {
  const accounts = new Map<string, Account>();

  function accountOf(accountId: string): Account {
    const known = accounts.get(accountId);
    if (known !== undefined) return known;
    const made: Account = { total: 0, open: new Set() };
    accounts.set(accountId, made);
    return made;
  }

  return {
    hold(accountId, cutOff) {
      const account = accountOf(accountId);
      const held: Held = { bytes: 0, cutOff };
      account.open.add(held);
      const end = (one: Held) => {
        if (!account.open.delete(one)) return;
        account.total -= one.bytes;
        if (account.open.size === 0) accounts.delete(accountId);
      };
      return {
        add(bytes) {
          if (!account.open.has(held)) return;
          held.bytes += bytes;
          account.total += bytes;
          for (const oldest of account.open) {
            if (account.total <= maxBytesPerAccount) return;
            end(oldest);
            oldest.cutOff();
          }
        },
        end: () => end(held),
      };
    },
  };
}
