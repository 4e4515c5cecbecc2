/**
 * When a failed attempt is followed by another. Seconds, because that is what operators think in.
 */
export interface RetryOptions {
  /**
   * Wait after the first, second, … failed attempt; there is one attempt more than entries. Default
   * 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h: eight attempts within about 28 hours.
   */
  scheduleSeconds?: readonly number[];
  /**
   * Each wait is multiplied by a random factor between 1 - jitter and 1 + jitter. 0 to 1. Default
   * 0.2.
   */
  jitter?: number;
  /** The longest `Retry-After` that is obeyed. Default 86 400 (24 h). */
  maxRetryAfterSeconds?: number;
  /** 0 ≤ x < 1. Default Math.random. */
  random?: () => number;
}

/** An attempt that did not succeed, as far as the policy looks at it. */
interface FailedAttempt {
  /** 1 for the first. */
  number: number;
  /** Absent where no response came. */
  statusCode?: number;
  retryAfter?: string;
  /** Epoch milliseconds. */
  endedAtMs: number;
  /** The webhook's own. Default: that of the node. */
  scheduleSeconds?: readonly number[];
}

/** `putOffUntilMs`: the receiver asked to be sent nothing before. */
type RetryDecision = ({ kind: 'retry'; atMs: number } | { kind: 'give-up' }) & { putOffUntilMs?: number };

/**
 * Decides after a failed attempt:
 * - every failure is tried again, a refused address as well: DNS answers change, and so does what
 *   the operator allows;
 * - except `410 Gone`, by which the receiver says that it wants this no more: the delivery has
 *   failed, and its webhook is disabled (webhook-health.ts), which loses nothing: what comes later
 *   is held;
 * - `Retry-After` of 429 and 503 (seconds or a date) puts the next attempt off, and all others of
 *   the webhook, up to maxRetryAfterSeconds. It never brings one forward: each attempt uses up one
 *   of few.
 */
export type RetryPolicy = (attempt: FailedAttempt) => RetryDecision;

const DEFAULT_SCHEDULE_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const DEFAULT_MAX_RETRY_AFTER_SECONDS = 86_400;
const HEEDED = new Set([429, 503]);
const GONE = 410;

/**
 * Compiles the options. Throws RangeError for negative or non-finite waits and a jitter outside 0
 * to 1.
 */
export function createRetryPolicy(options: RetryOptions = {}): RetryPolicy {
  const waitsMs = (options.scheduleSeconds ?? DEFAULT_SCHEDULE_SECONDS).map((seconds) => seconds * 1_000);
  const jitter = options.jitter ?? 0.2;
  const maxRetryAfterMs = (options.maxRetryAfterSeconds ?? DEFAULT_MAX_RETRY_AFTER_SECONDS) * 1_000;
  const random = options.random ?? Math.random;
  if (![...waitsMs, maxRetryAfterMs].every((ms) => Number.isFinite(ms) && ms >= 0)) {
    throw new RangeError('Waits between attempts must be zero or more seconds');
  }
  if (!(jitter >= 0 && jitter <= 1)) throw new RangeError('The jitter of waits between attempts must be from 0 to 1');
  return (attempt) => {
    const { scheduleSeconds, number } = attempt;
    const waitMs = (scheduleSeconds?.map((seconds) => seconds * 1_000) ?? waitsMs)[number - 1];
    const asked = HEEDED.has(attempt.statusCode ?? 0) ? readRetryAfter(attempt.retryAfter, attempt.endedAtMs) : 0;
    const heededMs = Math.min(asked, maxRetryAfterMs);
    const putOff = heededMs > 0 ? { putOffUntilMs: Math.round(attempt.endedAtMs + heededMs) } : {};
    if (waitMs === undefined || attempt.statusCode === GONE) return { kind: 'give-up', ...putOff };
    const jitteredMs = waitMs * (1 + jitter * (2 * random() - 1));
    return { kind: 'retry', atMs: Math.round(attempt.endedAtMs + Math.max(jitteredMs, heededMs)), ...putOff };
  };
}

/**
 * Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3); 0 if it is missing or has
 * neither form.
 */
function readRetryAfter(value: string | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1_000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? 0 : Math.max(0, dateMs - nowMs);
}
