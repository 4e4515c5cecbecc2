import { idTimeMs } from '@headwater/shared';

/** How long a run had waited when it began, and how long it had run when it brought what it brings. */
export interface RunTimes {
  queuedMs: number;
  ranMs: number;
}

/** The invocation's id says when it was made. Clocks of nodes differ: nothing begins before that. */
export function timesOf(run: {
  ran?: { fromMs: number; toMs: number };
  invocation?: { id: string };
}): RunTimes | undefined {
  const { ran, invocation } = run;
  if (ran === undefined || invocation === undefined) return undefined;
  const madeAtMs = idTimeMs(invocation.id) ?? ran.fromMs;
  return { queuedMs: Math.max(0, ran.fromMs - madeAtMs), ranMs: Math.max(0, ran.toMs - ran.fromMs) };
}
