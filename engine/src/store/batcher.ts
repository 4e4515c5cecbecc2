import { createShares, type Shares, type SharesOptions } from './shares.ts';

/**
 * Group commit: what arrives while a commit is in flight goes into the next one. One transaction a batch instead of one
 * an item is what makes a durable write cheap (measured in bench/README.md).
 */
export interface Batcher<T, R> {
  /** Resolves with the item's result once its batch is committed; rejects with what made the commit fail. */
  add(item: T): Promise<R>;
  /** Items that wait or are being committed. */
  size(): number;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

export interface BatcherOptions<T, R> {
  maxBatch: number;
  /**
   * A batch starts at least this long after the one before, unless it is full. An item that comes alone is committed at
   * once; under load this is what makes batches, and with them commits, few and large. A function is given the size of the
   * batch before: what comes one after the other, with nobody to share with, need not wait at all.
   */
  minIntervalMs: number | ((lastBatch: number) => number);
  /** Writes all items in one transaction and answers one result an item, in their order. All or nothing. */
  commit: (items: readonly T[]) => Promise<readonly R[]>;
  /**
   * True where an item alone could be at fault (bad data, not a lost connection): the batch is then committed one by one,
   * so that one tenant's bad row cannot fail its neighbours'. Default: never.
   */
  isItemsFault?: (error: unknown) => boolean;
  /**
   * Whose items are whose, and how much work each is: a batch goes round the tenants and ends before it is heavier than
   * `maxWeight`, so that nobody waits for all that another one brought, and one tenant's part of it before `maxTenantWeight` while there
   * are others. The order of one tenant's items is kept. Default: first come, first served.
   */
  share?: SharesOptions<T>;
}

interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

function queueOf<T, R>(share: BatcherOptions<T, R>['share']): Shares<Waiting<T, R>> {
  const { tenantOf, weightOf, ...bounds } = share ?? { tenantOf: () => '', weightOf: () => 0, maxWeight: 0 };
  return createShares({ ...bounds, tenantOf: ({ item }) => tenantOf(item), weightOf: ({ item }) => weightOf(item) });
}

/** One batch is committed at a time: two at once would only make each smaller. */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): Batcher<T, R> {
  const queue = queueOf<T, R>(options.share);
  let committing = 0;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let lastBatch = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let idle: (() => void)[] = [];

  const { minIntervalMs } = options;
  const intervalMs = () => (typeof minIntervalMs === 'number' ? minIntervalMs : minIntervalMs(lastBatch));

  function schedule(): void {
    if (queue.size() === 0 || committing > 0 || immediate !== undefined) return;
    const waitMs = lastStartMs + intervalMs() - performance.now();
    if (waitMs > 0 && queue.size() < options.maxBatch) {
      timer ??= setTimeout(flush, waitMs);
      return;
    }
    clearTimeout(timer);
    // After the current turn of the event loop: everything that this turn's sockets brought goes along.
    immediate = setImmediate(flush);
  }

  function flush(): void {
    timer = undefined;
    immediate = undefined;
    lastStartMs = performance.now();
    const batch = queue.take(options.maxBatch);
    committing = batch.length;
    lastBatch = batch.length;
    void commitBatch(options, batch).then(() => {
      committing = 0;
      schedule();
      if (committing > 0 || queue.size() > 0) return;
      for (const wake of idle) wake();
      idle = [];
    });
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        schedule();
      });
    },
    size: () => queue.size() + committing,
    drain() {
      if (committing === 0 && queue.size() === 0) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}

async function commitBatch<T, R>(options: BatcherOptions<T, R>, batch: readonly Waiting<T, R>[]): Promise<void> {
  try {
    const results = await options.commit(batch.map((waiting) => waiting.item));
    batch.forEach((waiting, i) => waiting.resolve(results[i] as R));
  } catch (error) {
    if (batch.length > 1 && options.isItemsFault?.(error)) {
      for (const waiting of batch) await commitBatch(options, [waiting]);
      return;
    }
    for (const waiting of batch) waiting.reject(error);
  }
}

/** SQLSTATE classes that blame the data of a statement: data exceptions, constraint violations, too large values. */
export function isDataError(error: unknown): boolean {
  const state = (error as { code?: unknown } | null)?.code;
  return typeof state === 'string' && /^(22|23|54)/.test(state);
}
