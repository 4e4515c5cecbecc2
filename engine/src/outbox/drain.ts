import { LIMITS, type ActiveTenants } from '@headwater/shared';
import type { Log } from '../contract/index.ts';
import { createLaneTurns, type LaneTurns } from '../db/index.ts';
import { type AttemptContext, type AttemptResult, startAttempt } from './attempt.ts';
import { createHeldItems, type HeldItems } from './held-items.ts';
import { createLaneChanges } from './lane-changes.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from './record-outcomes.ts';
import { type AttemptEnd, createSender, type OutgoingShare, type Sender, type SenderOptions } from './sender.ts';
import type { OutboxItem, Transport } from './transport.ts';

/*
 * The drain of a node: all that happens between the lease of an item and the record of its attempt.
 *
 *   take ──► waiting ──► in flight ──► recording ──► gone
 *               │            │             │
 *               │            └ cut off     └ lease lost, or given up
 *               └► given back
 *
 * waiting     In its lane, in memory. `take` puts it there, and sender.ts takes it out within the
 *             limits: tenants in turn, and the lanes of a tenant in turn.
 * in flight   Its transport has it (attempt.ts). `stop` waits for it, then cuts it off.
 * recording   The attempt was made and is not recorded yet: record-outcomes.ts retries until it is.
 * gone        One transaction has written the attempt, the new status, the end of the lease and the
 *             job of the retry. A row that another node has leased meanwhile stays as it is.
 * given back  Its lane has no room, its destination has changed (`giveBack`), or the node stops.
 *             The lease has ended and its lane has a job: any node claims it.
 *
 * The row is `pending` and leased by this node in all states but the last two. A crash leaves it
 * so: the node that finds this one dead ends the lease and adds the job of its lane
 * (cluster/nodes.sql.ts). A crash while it is in flight or being recorded leads to a second
 * attempt: at least once. A living node that has lost an item finds a lease that nothing holds, and
 * gives it back (cluster/unheld-leases.ts).
 */

/** The items of one table, of which a node makes attempts. */
export interface DrainOptions<T extends OutboxItem> extends AttemptContext {
  /** Names an item in the log: `delivery`. */
  noun: string;
  transport: Transport<T>;
  /** Unique among all tenants. */
  laneIdOf: (item: T) => string;
  /** As in SenderOptions. */
  newsOf?: SenderOptions<T, unknown>['newsOf'];
  /** Characters of the texts held for an item. */
  charsOf: (item: T) => number;
  limits: DrainLimits;
  /** As in SenderOptions. */
  shareOf: (accountId: string) => OutgoingShare | undefined;
  /** As in SenderOptions. */
  activeTenants: ActiveTenants;
  rows: DrainedRows<T>;
  /** An attempt was made; it is not recorded yet. */
  onAttempt: (result: AttemptResult<T>) => void;
  /** It is recorded, or was given up. */
  onRecorded: (result: AttemptResult<T>) => void;
  /** As in OutcomeRecorderOptions. */
  onUnrecorded?: ((error: unknown) => void) | undefined;
  log: Log;
}

interface DrainLimits {
  /** Attempts at the same time. */
  maxPerLane: number;
  maxInFlight: number;
  /** In memory. */
  maxHeld: number;
  maxHeldPerLane: number;
  maxHeldBytes: number;
  /** A stop waits so long for attempts in flight. */
  drainMs: number;
}

/** The leases of this node in the database. */
interface DrainedRows<T> {
  /** As in OutcomeRecorderOptions. */
  record(results: readonly AttemptResult<T>[]): Promise<boolean[]>;
  /** Ends their leases; their lanes come round at `runAtMs`, by default at once. */
  giveBack(items: readonly T[], runAtMs?: number): Promise<void>;
  /** Ends all leases. These lanes have waited in memory and get their jobs as well. */
  giveBackAll(laneIds: readonly string[]): Promise<void>;
}

interface LaneOf {
  accountId: string;
  laneId?: string | undefined;
}

export interface DrainStats {
  /** In memory and not started. */
  held: number;
  inFlight: number;
  /** Attempted, and not recorded yet. */
  recording: number;
  /** Attempts since the start, by their recorded outcome. */
  delivered: number;
  retried: number;
  failed: number;
  dropped: number;
  /** Attempts whose lease was lost before they could be recorded: another node makes them again. */
  lost: number;
}

export interface Drain<T> {
  /**
   * How many more items this node should lease: of all tenants, of one, or of one lane. A tenant
   * may hold as much as is still free for others. A lane may hold as much of that as is still free
   * for its tenant's other lanes. So one backlog always leaves room for others. Never more than may
   * begin soon. 0 while stopping.
   */
  room(of?: LaneOf): number;
  /** The same of an account's lanes that fail. */
  roomOfFailing(accountId: string): number;
  /** See Lanes. */
  sharedRoom: Sender<T>['sharedRoom'];
  /** Which changes of lanes this node has heard of: asked before items are read. */
  heard(): number;
  /**
   * Accepts items that this node has already leased. Never refuses: it gives back items beyond its
   * room, and items whose lane has changed since `heard` returned `readAt`. Default: nothing has
   * changed.
   */
  take(items: readonly T[], readAt?: number): void;
  /** Takes on up to `limit` items that `lease` leases. Answers how many characters they have. */
  claim(limit: number, lease: () => Promise<readonly T[]>): Promise<number>;
  /** Claims now, or when the turn of the tenant has come: see LaneTurns. */
  inTurn(accountId: string, laneId: string, claim: () => Promise<number>): Promise<void>;
  /**
   * The destination of a lane, or of all lanes, has changed or is gone. From this call on, none of
   * its held items begins. Resolves when they are given back. Never rejects.
   */
  giveBack(laneId?: string): Promise<void>;
  /** There may be a share of the account where there was none. */
  shareKnown(accountId: string): void;
  /** True from `take` until the attempt is recorded. */
  holds(itemId: string): boolean;
  /** One attempt, at once, of an item that is stored nowhere. Never rejects. */
  attemptOnce(item: T): Promise<AttemptEnd<AttemptResult<T>>>;
  stats(): DrainStats;
  /**
   * Starts nothing new, lets attempts in flight finish for drainMs, cuts off the rest, then calls
   * `closeTransport` and gives back every lease of this node. Idempotent.
   */
  stop(closeTransport: () => Promise<void> | void): Promise<void>;
}

export function createDrain<T extends OutboxItem>(options: DrainOptions<T>): Drain<T> {
  return new NodeDrain(options);
}

class NodeDrain<T extends OutboxItem> implements Drain<T> {
  readonly #options: DrainOptions<T>;
  readonly #held: HeldItems<T>;
  readonly #changes = createLaneChanges();
  readonly #laneTurns: LaneTurns;
  readonly #recorder: OutcomeRecorder<AttemptResult<T>>;
  readonly #sender: Sender<T>;
  #claiming = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: DrainOptions<T>) {
    const { noun, limits, laneIdOf, newsOf, charsOf, shareOf, rows, activeTenants, log } = options;
    this.#options = options;
    this.#held = createHeldItems<T>(charsOf, ({ id }) => id);
    this.#laneTurns = createLaneTurns({ activeTenants, log });
    this.#recorder = createOutcomeRecorder<AttemptResult<T>>({
      record: rows.record,
      withoutTexts,
      isUnawaited: ({ status, item }) => status === 'pending' && item.settings?.wakesLane !== true,
      describe: ({ item }) => ({ [noun]: item.id }),
      onUnrecorded: options.onUnrecorded,
      log,
    });
    this.#sender = createSender<T, AttemptResult<T>>({
      attempt: (item) => startAttempt(options, options.transport, item),
      laneIdOf,
      newsOf,
      charsOf,
      limits,
      shareOf,
      onEnd: (item, end) => void this.#settle(item, end),
      onShed: (items) => void this.#release(items, Date.now() + LIMITS.deliveryLaneRetryMs),
      activeTenants,
    });
  }

  room(of?: LaneOf): number {
    const { maxHeld, maxHeldBytes } = this.#options.limits;
    if (this.#stopping !== undefined || this.#held.bytes() >= maxHeldBytes) return 0;
    const count = this.#sender.waiting() + this.#sender.inFlight() + this.#recorder.size() + this.#claiming;
    const free = Math.max(0, maxHeld - count);
    if (of === undefined) return free;
    const own = this.#held.of(of.accountId);
    if (own.bytes >= maxHeldBytes - this.#held.bytes()) return 0;
    // Each item taken adds one to the tenant's part and removes one from the free room.
    const half = Math.max(0, Math.floor((free - own.count) / 2));
    // Items that cannot begin soon would take room from other tenants.
    const most = Math.min(half, this.#sender.soon(of.accountId));
    if (of.laneId === undefined) return most;
    // The same within the tenant: the backlog of one lane leaves room for its others.
    const share = Math.max(0, Math.ceil((half - this.#sender.held(of.laneId)) / 2));
    return Math.min(most, share, this.#sender.room(of.laneId, of.accountId));
  }

  sharedRoom(laneId: string, accountId: string, fails?: boolean): number {
    return this.#sender.sharedRoom(laneId, accountId, fails);
  }

  roomOfFailing(accountId: string): number {
    return Math.min(this.room({ accountId }), this.#sender.roomOfFailing(accountId));
  }

  heard(): number {
    return this.#changes.heard();
  }

  take(items: readonly T[], readAt = this.#changes.heard()): void {
    const { laneIdOf } = this.#options;
    for (const item of items) this.#held.add(item);
    const isOld = (item: T) => this.#changes.hasChangedSince(laneIdOf(item), readAt);
    void this.#release(items.filter(isOld));
    this.#sender.push(items.filter((item) => !isOld(item)));
  }

  async claim(limit: number, lease: () => Promise<readonly T[]>): Promise<number> {
    this.#claiming += limit;
    try {
      const readAt = this.#changes.heard();
      const items = await lease();
      this.take(items, readAt);
      return items.reduce((chars, item) => chars + this.#options.charsOf(item), 0);
    } finally {
      this.#claiming -= limit;
    }
  }

  inTurn(accountId: string, laneId: string, claim: () => Promise<number>): Promise<void> {
    return this.#laneTurns.run(accountId, laneId, claim);
  }

  giveBack(laneId?: string): Promise<void> {
    this.#changes.note(laneId);
    return this.#release(this.#sender.drop(laneId));
  }

  shareKnown(accountId: string): void {
    this.#sender.shareKnown(accountId);
  }

  holds(itemId: string): boolean {
    return this.#held.has(itemId);
  }

  async attemptOnce(item: T): Promise<AttemptEnd<AttemptResult<T>>> {
    if (this.#stopping !== undefined) return { kind: 'cut-off' };
    return startAttempt(this.#options, this.#options.transport, item).done;
  }

  stats(): DrainStats {
    return { held: this.#sender.waiting(), inFlight: this.#sender.inFlight(), ...this.#recorder.stats() };
  }

  stop(closeTransport: () => Promise<void> | void): Promise<void> {
    this.#stopping ??= this.#drain(closeTransport);
    return this.#stopping;
  }

  async #settle(item: T, end: AttemptEnd<AttemptResult<T>>): Promise<void> {
    if (end.kind === 'made') {
      this.#options.onAttempt(end.result);
      await this.#recorder.record(end.result);
      this.#options.onRecorded(end.result);
    }
    this.#held.remove(item);
  }

  async #release(items: readonly T[], runAtMs?: number): Promise<void> {
    if (items.length === 0) return;
    const { noun, rows, log } = this.#options;
    for (const item of items) this.#held.remove(item);
    try {
      await rows.giveBack(items, runAtMs);
    } catch (error) {
      // The rows stay leased by this node. Those that are pending it finds as leases that nothing
      // holds; the rest it loses when it ends.
      log.error({ noun, count: items.length, err: error }, 'items of the outbox could not be given back');
    }
  }

  async #drain(closeTransport: () => Promise<void> | void): Promise<void> {
    const waiting = await this.#laneTurns.stop();
    await this.#sender.stop(this.#options.limits.drainMs);
    await this.#recorder.stop();
    await closeTransport();
    await this.#options.rows.giveBackAll(waiting);
  }
}

function withoutTexts<T>(result: AttemptResult<T>): AttemptResult<T> {
  const { at, duration_ms, status_code } = result.attempt;
  return { ...result, attempt: { at, duration_ms, ...(status_code === undefined ? {} : { status_code }) } };
}
