import type { Backlogs } from './counts.sql.ts';
import { createEstimates } from '../estimates.ts';
import { NOTHING_QUEUED, type Queued, sumOf } from '../commit/queued.ts';

/** Waiting work of each account in the database: see Estimates. */
export interface BacklogCounts {
  of(accountId: string): Queued;
  /** Deliveries to the webhook, as counted last. */
  ofWebhook(webhookId: string): number;
  /** Counts queued work. */
  add(accountId: string, more: Queued): void;
  /** Counts `more` while `work` runs, and keeps the count if it succeeds. */
  during<T>(accountId: string, more: Queued, work: () => Promise<T>): Promise<T>;
  /** By account, as counted last. */
  all(): Backlogs['ofAccount'];
  /** Counts anew. */
  refresh(): Promise<void>;
}

export function createBacklogCounts(readAll: () => Promise<Backlogs>): BacklogCounts {
  let ofWebhook: Backlogs['ofWebhook'] = new Map();
  let ofAccount: Backlogs['ofAccount'] = new Map();
  const inFlight = new Map<string, Queued>();
  const queued = createEstimates<Queued>({
    async read() {
      const all = await readAll();
      ({ ofWebhook, ofAccount } = all);
      return all.ofAccount;
    },
    nothing: NOTHING_QUEUED,
    sum: sumOf,
  });

  return {
    of: (accountId) => sumOf(queued.of(accountId), inFlight.get(accountId) ?? NOTHING_QUEUED),
    ofWebhook: (webhookId) => ofWebhook.get(webhookId) ?? 0,
    all: () => ofAccount,
    add: queued.add,
    async during(accountId, more, work) {
      change(inFlight, accountId, more);
      try {
        const done = await work();
        queued.add(accountId, more);
        return done;
      } finally {
        const { invocations, chars, deliveries, held } = more;
        change(inFlight, accountId, {
          invocations: -invocations,
          chars: -chars,
          deliveries: -deliveries,
          held: -held,
        });
      }
    },
    refresh: queued.refresh,
  };
}

function change(backlogs: Map<string, Queued>, accountId: string, more: Queued): void {
  const changed = sumOf(backlogs.get(accountId) ?? NOTHING_QUEUED, more);
  if (changed.invocations + changed.deliveries + changed.held === 0) backlogs.delete(accountId);
  else backlogs.set(accountId, changed);
}
