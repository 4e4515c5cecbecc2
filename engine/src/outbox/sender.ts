import { createActiveTenants, type ActiveTenants } from '@headwater/shared';
import { createLanes, type LaneLimits, type LaneNews, type Lanes } from './lanes.ts';
import { createStarts } from './starts.ts';

/**
 * How an attempt ended: with something to record, or cut off because the node stops, which counts
 * for nothing.
 */
export type AttemptEnd<R> =
  | {
      kind: 'made';
      result: R;
      timedOut: boolean;
      /** Absent where the attempt says nothing of its receiver. */
      isSuccess?: boolean | undefined;
    }
  | { kind: 'cut-off' };

export interface Attempt<R> {
  /** Never rejects. */
  done: Promise<AttemptEnd<R>>;
  abort(): void;
}

/** Limits of one tenant's attempts on a node. */
export interface OutgoingShare {
  /** Attempts at the same time. */
  maxAtOnce: number;
  /** Attempts that begin, of which ten seconds may be saved up. */
  perSecond: number;
}

export interface SenderOptions<T, R> {
  attempt: (item: T) => Attempt<R>;
  laneIdOf: (item: T) => string;
  /**
   * News of an item's lane that this node has not seen itself. Default: none, and attempts that
   * fail have no pace.
   */
  newsOf?: ((item: T) => LaneNews) | undefined;
  /** Characters of the texts that an item sends. */
  charsOf: (item: T) => number;
  limits: Pick<LaneLimits, 'maxPerLane' | 'maxHeldPerLane'> & { maxInFlight: number };
  /**
   * Asked each time. Undefined while it is not known: then nothing of the tenant begins before
   * `shareKnown`.
   */
  shareOf: (tenantId: string) => OutgoingShare | undefined;
  /** Active tenants of the node. Default: tenants whose items are pushed here. */
  activeTenants?: ActiveTenants;
  /** An attempt ended; its slot is free already. Must not throw. */
  onEnd: (item: T, end: AttemptEnd<R>) => void;
  /** Items that leave without an attempt, because their lane has no room. Must not throw. */
  onShed: (items: readonly T[]) => void;
}

/** A receiver that takes as long keeps its attempts' places from others. */
const SLOW_MS = 1_000;

type LaneLooks<T> = Pick<Lanes<T>, 'room' | 'sharedRoom' | 'roomOfFailing' | 'held'>;

/**
 * Attempts the given items, as many at a time as the limits allow, fair between tenants and lanes.
 * Holds all of them in memory.
 */
export interface Sender<T> extends LaneLooks<T> {
  push(items: readonly T[]): void;
  /**
   * How many more of the tenant would begin soon, as far as its share a second goes. 0 while that
   * is not known.
   */
  soon(tenantId: string): number;
  waiting(): number;
  inFlight(): number;
  shareKnown(tenantId: string): void;
  /**
   * Removes and returns waiting items, of all lanes or of one, in their order. Attempts in flight
   * continue.
   */
  drop(laneId?: string): T[];
  /**
   * Starts nothing new and forgets waiting items: the caller releases the leases. Resolves when
   * nothing is in flight any more; after `drainMs` the remaining attempts are cut off.
   */
  stop(drainMs: number): Promise<void>;
}

export function createSender<T extends { accountId: string }, R>(options: SenderOptions<T, R>): Sender<T> {
  const { limits, onEnd, onShed, activeTenants = createActiveTenants() } = options;
  const { starts, lanes, looks } = createSharedLanes({ ...options, activeTenants }, mayStart);
  const attempts = new Set<Attempt<R>>();
  let isStopping = false;
  let idle: (() => void) | undefined;

  function mayStart(tenantId?: string): void {
    lanes.newTurn(tenantId);
    startWhatMayStart();
  }

  function startWhatMayStart(): void {
    const next = () => (isStopping || attempts.size >= limits.maxInFlight ? undefined : lanes.next());
    for (let item = next(); item !== undefined; item = next()) void start(item);
    if (lanes.isTurnOver()) starts.nextTurn();
  }

  async function start(item: T): Promise<void> {
    const attempt = options.attempt(item);
    const beganMs = performance.now();
    attempts.add(attempt);
    const end = await attempt.done;
    attempts.delete(attempt);
    const isSuccess = end.kind === 'made' && options.newsOf !== undefined ? end.isSuccess : undefined;
    const shed = lanes.done(item, outcomeOf(end, performance.now() - beganMs), isSuccess);
    if (shed.length > 0) onShed(shed);
    startWhatMayStart();
    onEnd(item, end);
    if (attempts.size === 0) idle?.();
  }

  async function drain(drainMs: number): Promise<void> {
    if (attempts.size === 0) return;
    const cutOff = setTimeout(() => attempts.forEach((attempt) => attempt.abort()), drainMs);
    await new Promise<void>((resolve) => (idle = resolve));
    clearTimeout(cutOff);
  }

  return {
    push(items) {
      const shed: T[] = [];
      for (const item of items) {
        activeTenants.saw(item.accountId, performance.now(), 0);
        if (!isStopping && lanes.room(options.laneIdOf(item), item.accountId) > 0) lanes.push(item);
        else shed.push(item);
      }
      if (shed.length > 0) onShed(shed);
      startWhatMayStart();
    },
    ...looks,
    soon: (tenantId) => Math.max(0, starts.soon(tenantId) - lanes.waiting(tenantId)),
    waiting: () => lanes.waiting(),
    inFlight: () => attempts.size,
    shareKnown: mayStart,
    drop: (laneId) => lanes.clear(laneId),
    stop(drainMs) {
      isStopping = true;
      lanes.clear();
      return drain(drainMs);
    },
  };
}

function outcomeOf(end: AttemptEnd<unknown>, tookMs: number): 'answered' | 'slow' | 'timeout' {
  if (end.kind === 'made' && end.timedOut) return 'timeout';
  return tookMs > SLOW_MS ? 'slow' : 'answered';
}

/**
 * Lanes from which as much begins as the shares of tenants allow. `mayStart`: there may be more.
 */
function createSharedLanes<T extends { accountId: string }, R>(
  { limits, laneIdOf, newsOf, charsOf, shareOf, activeTenants }: SenderOptions<T, R> & { activeTenants: ActiveTenants },
  mayStart: (tenantId?: string) => void,
) {
  const perSecondOf = (tenantId: string) => shareOf(tenantId)?.perSecond;
  const maxPerTenant = (tenantId: string) => shareOf(tenantId)?.maxAtOnce ?? 0;
  const starts = createStarts({ activeTenants, perSecondOf, mayStart });
  const began = (item: T) => {
    activeTenants.saw(item.accountId, performance.now());
    starts.began(item.accountId, charsOf(item));
  };
  const pace = newsOf === undefined ? {} : starts.failures;
  const perTenant = { maxPerTenant, maxPerTurn: starts.maxPerTurn, ...pace };
  const lanes = createLanes({ ...limits, ...perTenant }, laneIdOf, began, newsOf);
  const looks: LaneLooks<T> = {
    room: (laneId, tenantId) => lanes.room(laneId, tenantId),
    sharedRoom: (laneId, tenantId, fails) => lanes.sharedRoom(laneId, tenantId, fails),
    roomOfFailing: (tenantId) => lanes.roomOfFailing(tenantId),
    held: (laneId) => lanes.held(laneId),
  };
  return { starts, lanes, looks };
}
