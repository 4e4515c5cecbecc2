import { LIMITS, type ActiveTenants } from '@headwater/shared';
import { createLaneTurns, type LaneTurns } from '../../db/jobs/lane-turns.ts';
import { createPostponedLanes } from '../../db/jobs/postponed-lanes.ts';
import type { SendPayload } from '../../db/jobs/tasks.ts';
import { createHeldItems } from '../held-items.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '../record-outcomes.ts';
import { type AttemptEnd, createSender, type Sender } from '../sender.ts';
import { addJobs } from '../../db/jobs/add-jobs.ts';
import { claimSends, claimUpload } from './claim-sends.sql.ts';
import { attemptBytes } from '../attempt-bytes.ts';
import type { HistoryCount } from '../../accounts/history-row-bytes.ts';
import { recordSendAttempts, type SendResult } from './record-send-attempts.sql.ts';
import { postponeSends, releaseSends } from './release-sends.sql.ts';
import { sendLane } from './send-lane.ts';
import { startAttempt } from '../attempt.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import { createSendTransports } from '../transports/send-transports.ts';
import type { SendTransportParts } from '../transports/send-transport-parts.ts';
import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { Log } from '../../contract/log.ts';
import { type DueSend, laneIdOf, sizeOf } from './due-send.ts';

export interface SendRunnerOptions extends SendTransportParts {
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  retryPolicy: RetryPolicy;
  log: Log;
  /** As in DelivererOptions. */
  nodeId: () => string;
  onAttempt?: (kind: DueSend['kind'], outcome: 'delivered' | 'retried' | 'failed') => void;
  /** As in OutcomeRecorderOptions. */
  onUnrecorded?: (error: unknown) => void;
  /** Default: that of LIMITS. */
  drainMs?: number;
  /** Default: attempts are not counted. */
  history?: HistoryCount;
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
  stats(): { held: number; inFlight: number; delivered: number; retried: number; failed: number };
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
  readonly #sender: Sender<DueSend>;
  readonly #recorder: OutcomeRecorder<SendResult>;
  readonly #held = createHeldItems<DueSend>(sizeOf, ({ id }) => id);
  readonly #laneTurns: LaneTurns;
  readonly #postponed = createPostponedLanes(LIMITS.deliveryLaneRetryMs);
  #claiming = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: SendRunnerOptions) {
    const { sql, nodeId, log, activeTenants } = options;
    this.#options = options;
    this.#laneTurns = createLaneTurns({ activeTenants, log });
    this.#recorder = createOutcomeRecorder<SendResult>({
      record: (results) => recordSendAttempts(sql, nodeId(), results),
      withoutTexts,
      describe: ({ item }) => ({ send: item.id }),
      onUnrecorded: options.onUnrecorded,
      log,
    });
    const transport = createSendTransports(options);
    this.#sender = createSender({
      attempt: (send) => startAttempt(options, transport, send),
      laneIdOf,
      charsOf: sizeOf,
      limits: {
        maxPerLane: LIMITS.maxSendsPerHost,
        maxHeldPerLane: LIMITS.maxHeldSends,
        maxInFlight: LIMITS.maxSendsInFlight,
      },
      // Those that are requests also wait for their turn among what the account's runs fetch.
      shareOf: (accountId) => (options.limits.isSuspended(accountId) ? undefined : SHARE),
      onEnd: (send, end) => void this.#settle(send, end),
      onShed: (sends) => void this.#giveBack(sends),
      activeTenants,
    });
  }

  async runLane({ accountId }: SendPayload): Promise<void> {
    await this.#options.limits.get(accountId);
    // Its sends are held; the end of the suspension adds another job.
    if (this.#options.limits.isSuspended(accountId)) return;
    await this.#laneTurns.run(accountId, accountId, () => this.#claim(accountId));
  }

  resume(accountId: string): void {
    this.#sender.shareKnown(accountId);
  }

  holds(unitId: string): boolean {
    return this.#held.has(unitId);
  }

  stats() {
    const { delivered, retried, failed } = this.#recorder.stats();
    return { held: this.#sender.waiting(), inFlight: this.#sender.inFlight(), delivered, retried, failed };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  /** Answers how many characters they have. */
  async #claim(accountId: string): Promise<number> {
    const { sql, nodeId } = this.#options;
    if (this.#options.limits.isSuspended(accountId)) return 0;
    const limit = Math.min(LANE_BATCH, this.#capacity(accountId));
    if (limit <= 0) {
      await addJobs(sql, [sendLane(accountId, this.#postponed.nextTryMs(accountId))]);
      return 0;
    }
    this.#claiming += limit;
    try {
      const chars = this.#take(await claimSends(sql, nodeId(), accountId, limit));
      return chars + (await this.#takeUploads(accountId));
    } finally {
      this.#claiming -= limit;
    }
  }

  async #takeUploads(accountId: string): Promise<number> {
    const { sql, nodeId } = this.#options;
    let chars = 0;
    for (let taken = 0; taken < LANE_UPLOADS && chars <= LIMITS.maxClaimBytes; taken++) {
      const upload = await claimUpload(sql, nodeId(), accountId, Date.now());
      if (upload === undefined) return chars;
      chars += this.#take([upload]);
    }
    // There may be more, for which the next turn looks whether there is room.
    await addJobs(sql, [sendLane(accountId)]);
    return chars;
  }

  /** Answers how many characters they have. */
  #take(sends: readonly DueSend[]): number {
    for (const send of sends) this.#held.add(send);
    this.#sender.push(sends);
    return sends.reduce((chars, send) => chars + sizeOf(send), 0);
  }

  /** How many more of an account this node should lease: as much as is still free for others. */
  #capacity(accountId: string): number {
    if (this.#stopping !== undefined) return 0;
    const count = this.#sender.waiting() + this.#sender.inFlight() + this.#recorder.size() + this.#claiming;
    const own = this.#held.of(accountId);
    if (own.bytes >= LIMITS.maxHeldSendBytes - this.#held.bytes()) return 0;
    return Math.floor((LIMITS.maxHeldSends - count - own.count) / 2);
  }

  async #drain(): Promise<void> {
    const { sql, nodeId } = this.#options;
    const waiting = await this.#laneTurns.stop();
    await this.#sender.stop(this.#options.drainMs ?? LIMITS.deliveryDrainMs);
    await this.#recorder.stop();
    this.#options.mailer.stop();
    await sql.begin(async (tx) => {
      const { lanes } = await releaseSends(tx, [nodeId()]);
      await addJobs(tx, [...waiting.map((accountId) => sendLane(accountId)), ...lanes]);
    });
  }

  async #settle(send: DueSend, end: AttemptEnd<SendResult>): Promise<void> {
    if (end.kind === 'made') {
      const { status, attempt } = end.result;
      // No transform drops a send.
      if (status !== 'dropped') this.#options.onAttempt?.(send.kind, status === 'pending' ? 'retried' : status);
      await this.#recorder.record(end.result);
      // Each row of an upload has it.
      const rows = send.kind === 's3' ? send.contents.length : 1;
      this.#options.history?.add(send.accountId, rows * attemptBytes(attempt));
    }
    this.#held.remove(send);
  }

  /**
   * Their host's window became smaller. They come round again behind what others of the account
   * have sent.
   */
  async #giveBack(sends: readonly DueSend[]): Promise<void> {
    const { sql, nodeId, log } = this.#options;
    for (const send of sends) this.#held.remove(send);
    try {
      await postponeSends(sql, nodeId(), sends, Date.now() + LIMITS.deliveryLaneRetryMs);
    } catch (error) {
      // The rows stay leased by this node; they are released when it ends or is found dead.
      log.error({ count: sends.length, err: error }, 'sends could not be released');
    }
  }
}

function withoutTexts(result: SendResult): SendResult {
  const { at, duration_ms, status_code } = result.attempt;
  return { ...result, attempt: { at, duration_ms, ...(status_code === undefined ? {} : { status_code }) } };
}
