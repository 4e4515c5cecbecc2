import { NOTHING_QUEUED, type Queued, sumOf } from '../events/queued.ts';

/**
 * What waits in the database of each account, as far as this node knows: what was counted last, and what this node has queued since. What
 * other nodes have queued since is missing.
 */
export interface BacklogCounts {
  of(accountId: string): Queued;
  /** So much was queued. */
  add(accountId: string, more: Queued): void;
  /** Counts it while `work` is under way, and afterwards where it has succeeded. */
  during<T>(accountId: string, more: Queued, work: () => Promise<T>): Promise<T>;
  /** Counts anew. */
  refresh(): Promise<void>;
}

export function createBacklogCounts(readAll: () => Promise<ReadonlyMap<string, Queued>>): BacklogCounts {
  let counted: ReadonlyMap<string, Queued> = new Map();
  let since = new Map<string, Queued>();
  const inFlight = new Map<string, Queued>();

  const add = (accountId: string, more: Queued) => change(since, accountId, more);

  return {
    of: (accountId) =>
      [counted, since, inFlight].reduce(
        (sum, part) => sumOf(sum, part.get(accountId) ?? NOTHING_QUEUED),
        NOTHING_QUEUED,
      ),
    add,
    async during(accountId, more, work) {
      change(inFlight, accountId, more);
      try {
        const done = await work();
        add(accountId, more);
        return done;
      } finally {
        const { invocations, chars, deliveries } = more;
        change(inFlight, accountId, { invocations: -invocations, chars: -chars, deliveries: -deliveries });
      }
    },
    async refresh() {
      // Before the read: what is queued from now on may or may not be in it, and counts twice rather than never.
      const before = since;
      since = new Map();
      try {
        counted = await readAll();
      } catch (error) {
        for (const [accountId, more] of before) add(accountId, more);
        throw error;
      }
    },
  };
}

function change(backlogs: Map<string, Queued>, accountId: string, more: Queued): void {
  const changed = sumOf(backlogs.get(accountId) ?? NOTHING_QUEUED, more);
  if (changed.invocations + changed.deliveries === 0) backlogs.delete(accountId);
  else backlogs.set(accountId, changed);
}
