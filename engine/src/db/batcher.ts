import { LIMITS } from '@headwater/shared';
import { endAtPace } from '../fairness/index.ts';
import { createHeavyTurns, type Turns } from './heavy-turns.ts';
import type { Patience } from './lock-timeout.ts';
import { createShares, type ShareKind, type Shares, type SharesOptions } from './shares.ts';

/*
 * States of an item, and what moves it:
 *
 *   waiting      from `add`. Its row (light or heavy) is chosen when a batch is taken.
 *   committing   taken by `commitNext`. A row has one batch at a time; both rows go side by side.
 *   ended        resolved or rejected. Where its tenant gives way, its share ends later (`atPace`).
 *
 * A light item that is held up goes from committing back to waiting, before its tenant's others.
 * A commit that does not end in `maxCommitMs` rejects its items: whether it was stored is unknown,
 * and the owners of the rows find out. All of it is in memory. After a crash an item is either
 * committed whole or was never answered, and its sender or its lease brings it again.
 */

/**
 * Group commit: what arrives while a commit is in flight goes into the next one. One transaction a
 * batch instead of one an item is what makes a durable write cheap (measured in bench/README.md).
 */
export interface Batcher<T, R> {
  /**
   * Resolves with the item's result once its batch is committed; rejects with the error of the
   * commit.
   */
  add(item: T): Promise<R>;
  /** Items that wait or are being committed. */
  size(): number;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

/** Handling of a commit that does not end. */
export interface BatcherWatch {
  /**
   * After this time the items of the commit are rejected and the next batch begins. The commit may
   * still succeed; the owners of the items must handle that.
   */
  maxCommitMs: number;
  onStuck(items: number): void;
  /** A commit has ended, however. */
  onSettled(): void;
}

export interface BatcherOptions<T, R> {
  maxBatch: number;
  /**
   * Minimum time between the starts of two batches, unless a batch is full. A lone item is
   * committed at once. Under load this makes commits few and large. A function gets the size of the
   * previous batch: items that come one after the other, with no others to share a batch, need not
   * wait.
   */
  minIntervalMs: number | ((lastBatch: number) => number);
  /** Default: a commit has LIMITS.maxCommitMs, and no callback is called. */
  watch?: BatcherWatch;
  /**
   * Writes all items in one transaction and answers one result an item, in their order. All or
   * nothing.
   */
  commit: (items: readonly T[], patience: Patience) => Promise<readonly R[]>;
  /**
   * True where an item alone could be at fault (bad data, not a lost connection): the batch is then
   * committed one by one, so that one tenant's bad row cannot fail its neighbours'. Default: never.
   */
  isItemsFault?: (error: unknown) => boolean;
  /**
   * True if a light commit waited too long for a lock of another transaction and wrote nothing. The
   * items of each tenant are then committed separately. Items that are still blocked join the heavy
   * ones, where `commit` must wait. Default: never.
   */
  isHeldUp?: (error: unknown) => boolean;
  /**
   * Tenant and weight of each item. A batch rotates between tenants and stops before it exceeds
   * `maxWeight`, so no tenant waits for all work of another. The items of one tenant keep their
   * order. Default: first come, first served.
   */
  share?: SharesOptions<T> & {
    /**
     * How much text an item brings, which is committed at a pace where its tenant gives way.
     * Default: nothing.
     */
    charsOf?: (item: T) => number;
    /** In which batches of tenants that give way are committed. Default: turns of its own. */
    heavyTurns?: Turns;
  };
}

/**
 * The interval for items that each come alone when it is quiet, and that share batches under load:
 * `msPerItem` for each item of the previous batch except the first, at most `maxMs`.
 */
export function growingInterval(maxMs: number, msPerItem: number): (lastBatch: number) => number {
  return (lastBatch) => Math.min(maxMs, (lastBatch - 1) * msPerItem);
}

const PACE = { smallChars: LIMITS.smallBatchChars, charsPerSecond: LIMITS.batchCharsPerSecond };

interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

function queueOf<T, R>(share: BatcherOptions<T, R>['share']): Shares<Waiting<T, R>> {
  const { tenantOf, weightOf, ...bounds } = share ?? { tenantOf: () => '', weightOf: () => 0, maxWeight: 0 };
  return createShares({ ...bounds, tenantOf: ({ item }) => tenantOf(item), weightOf: ({ item }) => weightOf(item) });
}

/**
 * Commits one batch at a time: two at once would only make each smaller. With tenant shares, heavy
 * tenants have separate batches beside the others, so that light tenants do not wait for them.
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): Batcher<T, R> {
  const queue = queueOf<T, R>(options.share);
  const heavyTurns = options.share?.heavyTurns ?? createHeavyTurns();
  const inHeavyTurn: Turns = (work) => (queue.givesWay() ? heavyTurns(work) : work());
  let idle: (() => void)[] = [];
  const paused = new Set<() => void>();
  const rows = [
    createRow(options, { queue, kind: 'light', inTurn: (work) => work(), atPace, onCommitted }),
    createRow(options, { queue, kind: 'heavy', inTurn: inHeavyTurn, atPace, onCommitted }),
  ];
  const size = () => rows.reduce((sum, row) => sum + row.committing(), queue.size());

  // Schedules both kinds: a heavy tenant may have become light, or a light one heavy.
  function schedule(): void {
    for (const row of rows) row.schedule();
  }

  function onCommitted(): void {
    schedule();
    if (size() > 0) return;
    for (const wake of idle) wake();
    idle = [];
  }

  /**
   * Delays the end of a share by the time that its text takes at the pace. During a drain there is
   * no delay.
   */
  function atPace(end: () => void, items: readonly Waiting<T, R>[]): void {
    const chars = items.reduce((sum, { item }) => sum + (options.share?.charsOf?.(item) ?? 0), 0);
    const endOnce = () => {
      if (!paused.delete(endOnce)) return;
      end();
      onCommitted();
    };
    paused.add(endOnce);
    endAtPace(endOnce, idle.length > 0 ? 0 : chars, PACE);
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        schedule();
      });
    },
    size,
    drain() {
      if (size() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        idle.push(resolve);
        for (const end of paused) end();
      });
    },
  };
}

/** Batches of one kind, one after the other. */
interface Row {
  /** Starts the next batch when it is due. */
  schedule(): void;
  /** Items that are being committed. */
  committing(): number;
}

interface RowOptions<T, R> {
  queue: Shares<Waiting<T, R>>;
  kind: ShareKind;
  inTurn: Turns;
  /** Ends the share of tenants that are throttled. */
  atPace: (end: () => void, items: readonly Waiting<T, R>[]) => void;
  onCommitted: () => void;
}

function createRow<T, R>(options: BatcherOptions<T, R>, row: RowOptions<T, R>): Row {
  const { queue, kind } = row;
  let committing = 0;
  let isBusy = false;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let lastBatch = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  const { minIntervalMs } = options;
  const intervalMs = () => (typeof minIntervalMs === 'number' ? minIntervalMs : minIntervalMs(lastBatch));

  function schedule(): void {
    if (isBusy || immediate !== undefined) return;
    // It is due then, and cannot be due before.
    if (timer !== undefined && queue.size() < options.maxBatch) return;
    const count = queue.count(kind);
    if (count === 0) return;
    const nowMs = performance.now();
    const dueMs = count < options.maxBatch ? lastStartMs + intervalMs() : nowMs;
    if (dueMs > nowMs) {
      timer ??= setTimeout(flush, dueMs - nowMs);
      return;
    }
    clearTimeout(timer);
    // After the current turn of the event loop: everything that this turn's sockets brought goes
    // along.
    immediate = setImmediate(flush);
  }

  function flush(): void {
    timer = undefined;
    immediate = undefined;
    isBusy = true;
    void row.inTurn(commitNext).then(() => {
      isBusy = false;
      row.onCommitted();
    });
  }

  async function commitNext(): Promise<void> {
    const { items, givesWay, end } = queue.take(kind, options.maxBatch);
    if (items.length === 0) return;
    lastStartMs = performance.now();
    committing = items.length;
    lastBatch = items.length;
    const heldUp = await commitBatch(options, kind, items);
    committing = 0;
    queue.putBack(heldUp);
    if (givesWay) row.atPace(end, items);
    else end();
  }

  return { schedule, committing: () => committing };
}

/** Answers those that are held up. */
async function commitBatch<T, R>(
  options: BatcherOptions<T, R>,
  kind: ShareKind,
  batch: readonly Waiting<T, R>[],
  patience: Patience = kind === 'heavy' ? 'endless' : 'usual',
): Promise<readonly Waiting<T, R>[]> {
  try {
    const items = batch.map((waiting) => waiting.item);
    const results = await inBounds(options.commit(items, patience), items.length, options.watch);
    batch.forEach((waiting, i) => waiting.resolve(results[i] as R));
  } catch (error) {
    if (kind === 'light' && options.isHeldUp?.(error)) {
      const ofTenants = [...Map.groupBy(batch, tenantIn(options)).values()];
      return ofTenants.length === 1 ? batch : commitApart(options, kind, ofTenants, 'short');
    }
    if (batch.length > 1 && options.isItemsFault?.(error)) {
      return commitApart(
        options,
        kind,
        batch.map((waiting) => [waiting]),
        patience,
      );
    }
    for (const waiting of batch) waiting.reject(error);
  }
  return [];
}

/** A late commit rejects like a lost connection: nothing tells whether the items were stored. */
async function inBounds<V>(commit: Promise<V>, items: number, watch: BatcherWatch | undefined): Promise<V> {
  const { maxCommitMs = LIMITS.maxCommitMs } = watch ?? {};
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    watch?.onStuck(items);
    reject(Object.assign(new Error(`A commit did not end within ${maxCommitMs} ms`), { code: 'CONNECTION_STUCK' }));
  }, maxCommitMs);
  try {
    const value = await Promise.race([commit, late]);
    watch?.onSettled();
    return value;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * If a part is held up, the later parts of its tenant wait too, so that the order of each tenant is
 * kept.
 */
async function commitApart<T, R>(
  options: BatcherOptions<T, R>,
  kind: ShareKind,
  parts: readonly (readonly Waiting<T, R>[])[],
  patience: Patience,
): Promise<readonly Waiting<T, R>[]> {
  const tenantOf = tenantIn(options);
  const heldUp: Waiting<T, R>[] = [];
  for (const part of parts) {
    const isBehind = heldUp.some((before) => tenantOf(before) === tenantOf(part[0] as Waiting<T, R>));
    heldUp.push(...(isBehind ? part : await commitBatch(options, kind, part, patience)));
  }
  return heldUp;
}

function tenantIn<T, R>({ share }: BatcherOptions<T, R>): (waiting: Waiting<T, R>) => string {
  return ({ item }) => share?.tenantOf(item) ?? '';
}

/**
 * SQLSTATE classes that blame the data of a statement: data exceptions, constraint violations, too
 * large values.
 */
export function isDataError(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === 'string' && /^(22|23|54)/.test(state);
}
