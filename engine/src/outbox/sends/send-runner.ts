import { LIMITS, type ActiveTenants } from '@headwater/shared';
import { addJobs, createPostponedLanes, type SendPayload } from '../../db/index.ts';
import type { AttemptResult } from '../attempt.ts';
import { createDrain, type Drain, type DrainStats } from '../drain.ts';
import { claimSends, claimUpload } from './claim-sends.sql.ts';
import { attemptBytes } from '../attempt-bytes.ts';
import type { HistoryCount, LimitsCache } from '../../accounts/index.ts';
import { recordSendAttempts } from './record-send-attempts.sql.ts';
import { postponeSends, releaseSends } from './release-sends.sql.ts';
import { sendLane } from './send-lane.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import { createSendTransports } from '../transports/send-transports.ts';
import type { SendTransportParts } from '../transports/send-transport-parts.ts';
import type { UseCount } from '../../events/index.ts';
import type { Log } from '../../contract/index.ts';
import { type DueSend, laneIdOf, sizeOf } from './due-send.ts';

export interface SendRunnerOptions extends SendTransportParts {
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  retryPolicy: RetryPolicy;
  log: Log;
  /** As in DelivererOptions. */
  nodeId: () => string;
  onAttempt?: (outcome: 'delivered' | 'retried' | 'failed', result: AttemptResult<DueSend>) => void;
  /** As in OutcomeRecorderOptions. */
  onUnrecorded?: (error: unknown) => void;
  /** Default: that of LIMITS. */
  drainMs?: number;
  /** Default: attempts are not counted. */
  history?: HistoryCount;
  /** The same of what they use. */
  use?: UseCount;
  /** As in SenderOptions. */
  activeTenants: ActiveTenants;
}

/**
 * Attempts the sends that this node leases from the lanes of accounts, as the deliverer does with
 * deliveries: durable before and after, at least once.
 */
export interface SendRunner {
  /** One turn of an account's lane. Rejects when the database does not answer. */
  runLane(payload: SendPayload): Promise<void>;
  /** The account is no longer suspended. */
  resume(accountId: string): void;
  /** From its claim to what was recorded of its attempt. */
  holds(unitId: string): boolean;
  stats(): DrainStats;
  /**
   * Lets attempts in flight finish for drainMs, cuts off the rest, and releases every lease of this
   * node. Idempotent.
   */
  stop(): Promise<void>;
}

const LANE_BATCH = 64;
const SHARE = { maxAtOnce: LIMITS.maxSendsPerTenant, perSecond: Number.POSITIVE_INFINITY };
/** Each may hold maxS3ObjectBytes. */
const LANE_UPLOADS = 4;

export function createSendRunner(options: SendRunnerOptions): SendRunner {
  const runner = new NodeSends(options);
  return {
    runLane: (payload) => runner.runLane(payload),
    resume: (accountId) => runner.resume(accountId),
    holds: (unitId) => runner.holds(unitId),
    stats: () => runner.stats(),
    stop: () => runner.stop(),
  };
}

class NodeSends implements SendRunner {
  readonly #options: SendRunnerOptions;
  readonly #drain: Drain<DueSend>;
  readonly #postponed = createPostponedLanes(LIMITS.deliveryLaneRetryMs);

  constructor(options: SendRunnerOptions) {
    this.#options = options;
    const { sql, nodeId, limits, retryPolicy, activeTenants, log } = options;
    this.#drain = createDrain<DueSend>({
      noun: 'send',
      retryPolicy,
      transport: createSendTransports(options),
      laneIdOf,
      charsOf: sizeOf,
      limits: {
        maxPerLane: LIMITS.maxSendsPerHost,
        maxInFlight: LIMITS.maxSendsInFlight,
        maxHeld: LIMITS.maxHeldSends,
        maxHeldPerLane: LIMITS.maxHeldSends,
        maxHeldBytes: LIMITS.maxHeldSendBytes,
        drainMs: options.drainMs ?? LIMITS.deliveryDrainMs,
      },
      // Those that are requests also wait for their turn among what the account's runs fetch.
      shareOf: (accountId) => (limits.isSuspended(accountId) ? undefined : SHARE),
      activeTenants,
      rows: {
        record: (results) => recordSendAttempts(sql, nodeId(), results),
        // They come round again behind what others of the account have sent.
        giveBack: (sends, runAtMs = Date.now()) => postponeSends(sql, nodeId(), sends, runAtMs),
        giveBackAll: (accountIds) =>
          sql.begin(async (tx) => {
            const { lanes } = await releaseSends(tx, [nodeId()]);
            await addJobs(tx, [...accountIds.map((accountId) => sendLane(accountId)), ...lanes]);
          }),
      },
      onAttempt(result) {
        const { status } = result;
        // No transform drops a send.
        if (status !== 'dropped') options.onAttempt?.(status === 'pending' ? 'retried' : status, result);
      },
      onRecorded({ item, attempt }) {
        // Each row of an upload has it.
        const rows = item.kind === 's3' ? item.contents.length : 1;
        options.history?.add(item.accountId, rows * attemptBytes(attempt));
        options.use?.use(item.accountId, 'attempts', rows);
        // The others are requests, counted as what the account fetches.
        if (item.kind === 'email') options.use?.use(item.accountId, 'bytesOut', sizeOf(item));
      },
      onUnrecorded: options.onUnrecorded,
      log,
    });
  }

  async runLane({ accountId }: SendPayload): Promise<void> {
    await this.#options.limits.get(accountId);
    // Its sends are held; the end of the suspension adds another job.
    if (this.#options.limits.isSuspended(accountId)) return;
    await this.#drain.inTurn(accountId, accountId, () => this.#claim(accountId));
  }

  resume(accountId: string): void {
    this.#drain.shareKnown(accountId);
  }

  holds(unitId: string): boolean {
    return this.#drain.holds(unitId);
  }

  stats(): DrainStats {
    return this.#drain.stats();
  }

  stop(): Promise<void> {
    return this.#drain.stop(this.#options.mailer.stop);
  }

  /** Answers how many characters they have. */
  async #claim(accountId: string): Promise<number> {
    const { sql, nodeId } = this.#options;
    if (this.#options.limits.isSuspended(accountId)) return 0;
    const limit = Math.min(LANE_BATCH, this.#drain.room({ accountId }));
    if (limit <= 0) {
      await addJobs(sql, [sendLane(accountId, this.#postponed.nextTryMs(accountId))]);
      return 0;
    }
    const chars = await this.#drain.claim(limit, () => claimSends(sql, nodeId(), accountId, limit));
    return chars + (await this.#claimUploads(accountId));
  }

  async #claimUploads(accountId: string): Promise<number> {
    const { sql, nodeId } = this.#options;
    let chars = 0;
    for (let taken = 0; taken < LANE_UPLOADS && chars <= LIMITS.maxClaimBytes; taken++) {
      const more = await this.#drain.claim(1, () => claimUpload(sql, nodeId(), accountId, Date.now()));
      if (more === 0) return chars;
      chars += more;
    }
    // There may be more, for which the next turn looks whether there is room.
    await addJobs(sql, [sendLane(accountId)]);
    return chars;
  }
}
