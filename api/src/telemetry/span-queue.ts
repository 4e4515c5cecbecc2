import type { Span } from '@headwater/engine';
import type { PostOutcome } from './post-json.ts';

export interface SpanQueueOptions {
  maxQueue: number;
  maxBatch: number;
  delayMs: number;
  /** Never rejects, and ends within a bounded time. */
  send: (spans: readonly Span[]) => Promise<PostOutcome>;
  onSent: (count: number) => void;
  onDropped: (count: number, why: string) => void;
}

/** Spans that wait for their collector. */
export interface SpanQueue {
  add(span: Span): void;
  /** Sends what waits, once each; resolves when nothing is left or the collector took it not. */
  stop(): Promise<void>;
}

const FULL = 'they come faster than the collector takes them';

/**
 * A list with a bound, sent in batches, one at a time. A batch that failed is tried once more with
 * the next delay and then dropped: however slow or dead the collector is, no more than `maxQueue`
 * spans and one batch are held. A full list drops a span of the account that has the most there, so
 * an account that makes thousands loses its own.
 */
export function createSpanQueue(options: SpanQueueOptions): SpanQueue {
  const { maxQueue, maxBatch, delayMs, send, onSent, onDropped } = options;
  const waiting = createWaitingSpans();
  let sending: Promise<void> | undefined;
  let failed: Span[] | undefined;
  let isStopped = false;

  async function sendBatch(): Promise<boolean> {
    const isLast = failed !== undefined;
    const batch = failed ?? waiting.take(maxBatch);
    failed = undefined;
    const outcome = await send(batch);
    if (outcome.kind === 'sent') onSent(batch.length);
    else if (outcome.kind === 'again' && !isLast && !isStopped) failed = batch;
    else onDropped(batch.length, outcome.why);
    return outcome.kind === 'sent';
  }

  async function sendAll(): Promise<void> {
    while (failed !== undefined || waiting.size() > 0) if (!(await sendBatch())) return;
  }

  function start(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  const timer = setInterval(() => void start(), delayMs).unref();
  return {
    add(span) {
      if (isStopped) return onDropped(1, FULL);
      if (waiting.size() >= maxQueue) {
        onDropped(1, FULL);
        if (!waiting.makeRoomFor(span)) return;
      }
      waiting.push(span);
      // Not at once after a failure: the next tick tries again.
      if (waiting.size() === maxBatch && failed === undefined) void start();
    },
    async stop() {
      clearInterval(timer);
      await sending;
      isStopped = true;
      await start();
      const left = waiting.take(maxQueue);
      if (left.length > 0) onDropped(left.length, 'the node stops');
    },
  };
}

/** In their order, with how many each account has. */
function createWaitingSpans() {
  const spans: Span[] = [];
  const counts = new Map<string, number>();
  const countOf = (accountId: string) => counts.get(accountId) ?? 0;

  function count(span: Span, by: 1 | -1): void {
    const accountId = accountOf(span);
    const left = countOf(accountId) + by;
    if (left === 0) counts.delete(accountId);
    else counts.set(accountId, left);
  }

  return {
    size: () => spans.length,
    push(span: Span): void {
      spans.push(span);
      count(span, 1);
    },
    take(max: number): Span[] {
      const taken = spans.splice(0, max);
      for (const span of taken) count(span, -1);
      return taken;
    },
    /**
     * Takes out the newest span of the account that has the most, unless the account of `newcomer`
     * would then have as many as that one. Answers whether it did.
     */
    makeRoomFor(newcomer: Span): boolean {
      let most = accountOf(newcomer);
      for (const [accountId, waiting] of counts) if (waiting > countOf(most)) most = accountId;
      if (countOf(most) <= countOf(accountOf(newcomer)) + 1) return false;
      const at = spans.findLastIndex((span) => accountOf(span) === most);
      for (const span of spans.splice(at, 1)) count(span, -1);
      return true;
    },
  };
}

/** Those of the node itself are together like those of one account. */
const accountOf = ({ attributes }: Span): string => String(attributes['headwater.account.id'] ?? '');
