/**
 * Estimate of each account's total: the last count, plus additions of this node since then.
 * Additions of other nodes are missing.
 */
export interface Estimates<T> {
  of(accountId: string): T;
  /** Adds `more` to the account's count; it may be negative. */
  add(accountId: string, more: T): void;
  /** Counts anew. */
  refresh(): Promise<void>;
}

export interface EstimatesOptions<T> {
  /** Counts all of it. */
  read: () => Promise<ReadonlyMap<string, T>>;
  nothing: T;
  sum: (a: T, b: T) => T;
}

export function createEstimates<T>({ read, nothing, sum }: EstimatesOptions<T>): Estimates<T> {
  let counted: ReadonlyMap<string, T> = new Map();
  /** Added before the count that is under way, which does not show it yet. */
  let before: ReadonlyMap<string, T> = new Map();
  let since = new Map<string, T>();

  function add(accountId: string, more: T): void {
    since.set(accountId, sum(since.get(accountId) ?? nothing, more));
  }

  return {
    of: (accountId) =>
      [before, since].reduce(
        (all, part) => sum(all, part.get(accountId) ?? nothing),
        counted.get(accountId) ?? nothing,
      ),
    add,
    async refresh() {
      // Before the read: later additions may or may not be in its result. They count twice rather
      // than never.
      before = since;
      since = new Map();
      try {
        counted = await read();
      } catch (error) {
        for (const [accountId, more] of before) add(accountId, more);
        throw error;
      } finally {
        before = new Map();
      }
    },
  };
}
