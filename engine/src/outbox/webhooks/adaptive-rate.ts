import type { AdaptiveRate } from '../../contract/index.ts';

/*
 * The rate of a webhook that adapts to its receiver: additive increase, multiplicative decrease, as
 * TCP does it. A sign of overload halves the rate. Each second without one adds a hundredth of the
 * ceiling. Signs count once: attempts that began before the last decrease say nothing of the rate
 * after it.
 */

/** The result of an attempt, as a sign of how its receiver copes. */
export interface RateSign {
  beganAtMs: number;
  /** A 429 or 503, or no answer in time. */
  isOverload: boolean;
  /** To the end of an answer that is no such sign. */
  latencyMs?: number;
}

const FLOOR_PER_SECOND = 1;
/** Part of the ceiling that a second adds. */
const STEP = 0.01;
/** Answers have become slow: so many times the usual latency, and at least so much more. */
const SLOW_FACTOR = 2;
const SLOW_MORE_MS = 200;
const RAISED_EVERY_MS = 1_000;
/** Time without attempts counts for so much: it says nothing of the receiver. */
const MAX_COUNTED_MS = 10_000;
const LATENCY_FOLLOWS_MS = 60_000;
const LATENCY_FALLS_BY = 0.3;

/** The rate after these attempts. Undefined: they change nothing that is worth storing. */
export function adaptRate(
  rate: AdaptiveRate,
  signs: readonly RateSign[],
  ceiling: number,
  nowMs: number,
): AdaptiveRate | undefined {
  const { loweredAtMs = 0, changedAtMs = nowMs - RAISED_EVERY_MS } = rate;
  const fresh = signs.filter(({ beganAtMs }) => beganAtMs > loweredAtMs);
  const latencyMs = meanOf(fresh.flatMap((sign) => sign.latencyMs ?? []));
  const perSecond = Math.min(rate.perSecond ?? ceiling, ceiling);
  const countedMs = Math.min(Math.max(0, nowMs - changedAtMs), MAX_COUNTED_MS);
  const usual = usualLatency(rate.latencyMs, latencyMs, countedMs);
  if (fresh.some(({ isOverload }) => isOverload) || isSlow(rate.latencyMs, latencyMs)) {
    return {
      perSecond: Math.max(FLOOR_PER_SECOND, perSecond / 2),
      ...(usual === undefined ? {} : { latencyMs: usual }),
      changedAtMs: nowMs,
      loweredAtMs: nowMs,
    };
  }
  if (usual === undefined || latencyMs === undefined || countedMs < RAISED_EVERY_MS) return undefined;
  const raised = Math.min(ceiling, perSecond + (ceiling * STEP * countedMs) / 1_000);
  return { ...rate, perSecond: raised, latencyMs: usual, changedAtMs: nowMs };
}

function isSlow(usualMs: number | undefined, latencyMs: number | undefined): boolean {
  if (usualMs === undefined || latencyMs === undefined) return false;
  return latencyMs > usualMs * SLOW_FACTOR && latencyMs > usualMs + SLOW_MORE_MS;
}

function usualLatency(usualMs: number | undefined, latencyMs: number | undefined, countedMs: number) {
  if (usualMs === undefined || latencyMs === undefined) return usualMs ?? latencyMs;
  const follows = latencyMs < usualMs ? LATENCY_FALLS_BY : 1 - Math.exp(-countedMs / LATENCY_FOLLOWS_MS);
  return usualMs + (latencyMs - usualMs) * follows;
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
