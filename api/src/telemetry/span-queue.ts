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
 * spans and one batch are held, and what comes beyond is dropped.
 */
export function createSpanQueue(options: SpanQueueOptions): SpanQueue {
  const { maxQueue, maxBatch, delayMs, send, onSent, onDropped } = options;
  let waiting: Span[] = [];
  let sending: Promise<void> | undefined;
  let failed: Span[] | undefined;
  let isStopped = false;

  async function sendBatch(): Promise<boolean> {
    const isLast = failed !== undefined;
    const batch = failed ?? waiting.splice(0, maxBatch);
    failed = undefined;
    const outcome = await send(batch);
    if (outcome.kind === 'sent') onSent(batch.length);
    else if (outcome.kind === 'again' && !isLast && !isStopped) failed = batch;
    else onDropped(batch.length, outcome.why);
    return outcome.kind === 'sent';
  }

  async function sendAll(): Promise<void> {
    while (failed !== undefined || waiting.length > 0) if (!(await sendBatch())) return;
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
      if (isStopped || waiting.length >= maxQueue) return onDropped(1, FULL);
      waiting.push(span);
      // Not at once after a failure: the next tick tries again.
      if (waiting.length === maxBatch && failed === undefined) void start();
    },
    async stop() {
      clearInterval(timer);
      await sending;
      isStopped = true;
      await start();
      if (waiting.length > 0) onDropped(waiting.length, 'the node stops');
      waiting = [];
    },
  };
}
