import { randomUUID } from 'node:crypto';
import type { SpanSink } from '@headwater/engine';
import type { Log } from '../log.ts';
import { metricsRequest } from './otlp-metrics.ts';
import { type Attribute, attributesOf, spansRequest } from './otlp-spans.ts';
import { type PostOutcome, postJson } from './post-json.ts';
import { createSampler } from './sampler.ts';
import { createSpanQueue } from './span-queue.ts';
import type { SignalConfig, TelemetryConfig } from './telemetry-config.ts';

/** Spans since the start: those that the collector took, and those that it did not get. */
export interface TelemetryCounts {
  sent: number;
  dropped: number;
}

export interface Telemetry {
  /** Absent: traces go nowhere. */
  spans?: SpanSink;
  counts(): TelemetryCounts;
  /** Pushes what `text` (Prometheus) has, from now on, and once more at the end. */
  pushMetrics(text: () => Promise<string>): void;
  /** Sends what waits. Ends within the timeout of a request or two. Idempotent. */
  stop(): Promise<void>;
}

/** Between two lines about the same collector. */
const TELL_EVERY_MS = 300_000;
/** The end of a node waits no longer for its collector. */
const MAX_STOP_MS = 2_000;

/** Loaded and started only where the operator has named a collector. */
export function startTelemetry(config: TelemetryConfig, log: Log): Telemetry {
  const resource = attributesOf({
    'service.instance.id': randomUUID(),
    ...config.resource,
    'service.name': config.serviceName,
  });
  const giveUp = new AbortController();
  const counts = { sent: 0, dropped: 0 };
  const tell = createTeller(log);
  const spans = startSpans(config, { resource, counts, tell, stop: giveUp.signal });
  const startedAtMs = Date.now();
  let stopMetrics: (() => Promise<void>) | undefined;
  let stopping: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    const timer = setTimeout(() => giveUp.abort(), MAX_STOP_MS);
    await Promise.all([spans?.stop(), stopMetrics?.()]);
    clearTimeout(timer);
  }

  return {
    ...(spans === undefined ? {} : { spans: spans.sink }),
    counts: () => ({ ...counts }),
    pushMetrics(text) {
      const { metrics } = config;
      if (metrics === undefined) return;
      const push = async () => {
        const body = metricsRequest(resource, await text(), startedAtMs, Date.now());
        tell('metrics', metrics, await postJson(metrics, body, giveUp.signal));
      };
      stopMetrics = startPushing(push, metrics.intervalMs, (err) => log.warn({ err }, 'metrics could not be read'));
    },
    stop: () => (stopping ??= stopAll()),
  };
}

interface SpanParts {
  resource: Attribute[];
  counts: TelemetryCounts;
  tell: Teller;
  stop: AbortSignal;
}

function startSpans({ traces }: TelemetryConfig, { resource, counts, tell, stop }: SpanParts) {
  if (traces === undefined) return undefined;
  const drop = (count: number) => {
    counts.dropped += count;
  };
  const queue = createSpanQueue({
    ...traces,
    send: (batch) => postJson(traces, spansRequest(resource, batch), stop),
    onSent(count) {
      counts.sent += count;
      tell('traces', traces, { kind: 'sent' });
    },
    onDropped(count, why) {
      drop(count);
      tell('traces', traces, { kind: 'refused', why });
    },
  });
  const sink: SpanSink = { samples: createSampler(traces.sampler), add: queue.add, drop };
  return { sink, stop: queue.stop };
}

/** One push at a time: a slow collector delays the next one. */
function startPushing(push: () => Promise<void>, intervalMs: number, onError: (error: unknown) => void) {
  let pushing: Promise<void> | undefined;
  const start = () =>
    (pushing ??= push()
      .catch(onError)
      .finally(() => {
        pushing = undefined;
      }));
  const timer = setInterval(() => void start(), intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await pushing;
    await start();
  };
}

type Teller = (signal: string, to: SignalConfig, outcome: PostOutcome) => void;

/** Says once that a collector fails, and once that it is back: what is dropped is counted. */
function createTeller(log: Log): Teller {
  const toldAt = new Map<string, number>();
  return (signal, { url }, outcome) => {
    const last = toldAt.get(signal);
    if (outcome.kind === 'sent') {
      if (last !== undefined) log.info({ collector: url }, `the collector takes ${signal} again`);
      toldAt.delete(signal);
      return;
    }
    if (last !== undefined && performance.now() - last < TELL_EVERY_MS) return;
    toldAt.set(signal, performance.now());
    log.warn({ collector: url, reason: outcome.why }, `${signal} do not reach their collector; they are dropped`);
  };
}
