import { idTimeMs } from '@headwater/shared';

/** Time that a run waited before it began, and time that it had run when it produced its output. */
export interface RunTimes {
  queuedMs: number;
  ranMs: number;
}

/**
 * The invocation's id says when it was made. Clocks of nodes differ: nothing begins before that.
 */
export function timesOfRun(run: {
  ran?: { fromMs: number; toMs: number };
  invocation?: { id: string };
}): RunTimes | undefined {
  const { ran, invocation } = run;
  if (ran === undefined || invocation === undefined) return undefined;
  const madeAtMs = idTimeMs(invocation.id) ?? ran.fromMs;
  return { queuedMs: stored(ran.fromMs - madeAtMs), ranMs: stored(ran.toMs - ran.fromMs) };
}

/**
 * The largest of the database's type, 24 days: what has waited longer, for a source that was
 * stopped, is still committed.
 */
const MAX_STORED_MS = 2 ** 31 - 1;

function stored(ms: number): number {
  return Math.min(MAX_STORED_MS, Math.max(0, ms));
}
