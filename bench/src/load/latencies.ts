import { createHistogram } from 'node:perf_hooks';

/** Milliseconds, rounded to the microsecond. */
export interface LatencySummary {
  count: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export interface Latencies {
  record(ms: number): void;
  summary(): LatencySummary;
}

/** A histogram of three significant digits, in microseconds. */
export function createLatencies(): Latencies {
  const histogram = createHistogram();
  const ms = (us: number) => Math.round(us) / 1_000;
  return {
    // The histogram takes whole numbers from 1.
    record: (value) => histogram.record(Math.max(1, Math.round(value * 1_000))),
    summary: () => ({
      count: histogram.count,
      p50Ms: ms(histogram.percentile(50)),
      p99Ms: ms(histogram.percentile(99)),
      maxMs: histogram.count === 0 ? 0 : ms(histogram.max),
    }),
  };
}
