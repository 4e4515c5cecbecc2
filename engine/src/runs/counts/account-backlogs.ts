import { type ExceededLimit, HeadwaterError } from '@headwater/shared';
import { NOTHING_QUEUED, type Queued, sumOf } from '../commit/queued.ts';
import { every, retryUntilDatabaseBack } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import type { Backlogs } from './counts.sql.ts';
import { createBacklogCounts } from './backlog-counts.ts';
import { createNearLimits, type NearLimitsOptions } from './near-limits.ts';
import { limitTimeShare } from '../limit-time-share.ts';

/** If limits are not in memory, nothing is over them. */
export interface AccountBacklogsOptions extends NearLimitsOptions {
  /** Reads the work of each account that waits in the database for any node. */
  read: () => Promise<Backlogs>;
  /** Default: READ_EVERY_MS. */
  everyMs?: number | undefined;
  log: Log;
}

/**
 * Keeps what waits of each account within its limits, as far as this node knows of it
 * (BacklogCounts).
 */
export interface AccountBacklogs {
  /** The limit that the account would exceed with `more`. */
  exceeded(accountId: string, more: Queued): ExceededLimit | undefined;
  /**
   * A webhook that is down must not take all that its account may have waiting from its other
   * webhooks.
   */
  isFull(accountId: string, webhookId: string): boolean;
  /** Whether stopped webhooks may hold this many more deliveries. */
  mayHold(accountId: string, more: number): boolean;
  /** Throws RATE_LIMITED where not one more invocation has room. */
  admit(accountId: string): void;
  /** As `admit`, for `more`. */
  require(accountId: string, more: Queued): void;
  /**
   * Runs `work`, which queues one more invocation with an event of `chars` characters. Before that,
   * throws as `admit`.
   */
  queue<T>(accountId: string, chars: number, work: () => Promise<T>): Promise<T>;
  /** Counts queued work. */
  add(accountId: string, more: Queued): void;
  stop(): Promise<void>;
}

const READ_EVERY_MS = 5_000;
/** Share of maxQueuedDeliveries that one webhook may use. */
const WEBHOOK_SHARE = 0.5;
const RETRY_AFTER_SECONDS = 10;

/** Resolves when it has been counted once. */
export async function startAccountBacklogs(options: AccountBacklogsOptions): Promise<AccountBacklogs> {
  const counts = createBacklogCounts(options.read);
  const near = createNearLimits(options);
  const read = limitTimeShare(async () => {
    await counts.refresh();
    await near(counts.all());
  });

  function exceeded(accountId: string, more: Queued): ExceededLimit | undefined {
    const limits = options.limitsOf(accountId);
    if (limits === undefined) return undefined;
    const all = sumOf(counts.of(accountId), more);
    const found = [
      { name: 'maxQueuedInvocations' as const, used: all.invocations, adds: more.invocations },
      { name: 'maxQueuedBytes' as const, used: all.chars, adds: more.chars },
      { name: 'maxFanOutBytes' as const, used: more.chars, adds: more.chars },
      { name: 'maxQueuedDeliveries' as const, used: all.deliveries, adds: more.deliveries },
    ].find(({ name, used, adds }) => adds > 0 && used > limits[name]);
    return found && { name: found.name, value: limits[found.name], used: found.used };
  }

  function check(accountId: string, more: Queued): void {
    const limit = exceeded(accountId, more);
    if (limit === undefined) return;
    const message = `As much waits to be run as the limit ${limit.name} of the account allows (${limit.value}); try again later`;
    throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, limit });
  }

  await retryUntilDatabaseBack(options.log, read);
  const onError = (err: unknown) => options.log.warn({ err }, 'the backlogs of accounts could not be counted');
  return {
    exceeded,
    isFull(accountId, webhookId) {
      const most = options.limitsOf(accountId)?.maxQueuedDeliveries ?? Number.POSITIVE_INFINITY;
      return counts.ofWebhook(webhookId) >= most * WEBHOOK_SHARE;
    },
    mayHold(accountId, more) {
      const most = options.limitsOf(accountId)?.maxPausedDeliveries ?? Number.POSITIVE_INFINITY;
      return counts.of(accountId).held + more <= most;
    },
    admit: (accountId) => check(accountId, { ...NOTHING_QUEUED, invocations: 1 }),
    require: check,
    async queue(accountId, chars, work) {
      const more = { ...NOTHING_QUEUED, invocations: 1, chars };
      check(accountId, more);
      return counts.during(accountId, more, work);
    },
    add: counts.add,
    stop: every(options.everyMs ?? READ_EVERY_MS, read, onError),
  };
}
