import { setTimeout as sleep } from 'node:timers/promises';
import { type RunOutcome, wasStarved } from '@headwater/sandbox-runtime';
import { LIMITS } from '@headwater/shared';
import type { HeldInvocation } from '../../events/index.ts';

/**
 * `end`: the outcome is the run's own. `abandon`: its sandbox process ended too often while it was
 * alone in it.
 */
export type AfterLoss = 'repeat' | 'end' | 'abandon';

export interface LostRun {
  outcome: RunOutcome;
  /** Absent: a hook, of which nothing is stored. */
  invocation: HeldInvocation | undefined;
  /** Times that it was run on this node since it was taken, this one included. */
  tries: number;
}

/**
 * Pause before a run is repeated whose process died: the cause, such as a machine without memory,
 * may be over.
 */
const FIRST_PAUSE_MS = 500;
const PAUSE_FACTOR = 4;

/**
 * Decides what follows a run. Only a poisonous run is given up. A death counts only if this node
 * saw the process die while the invocation was alone in it. The count is durable before the run
 * begins again. Throws if the sandbox could not run it at all: the invocation is then given back
 * without a count.
 */
export async function afterLoss(
  { outcome, invocation, tries }: LostRun,
  countCrash: (invocation: HeldInvocation) => Promise<number | undefined>,
): Promise<AfterLoss> {
  if (outcome.ok) return 'end';
  if (wasStarved(outcome)) return (await mayRepeatStarved(tries)) ? 'repeat' : 'end';
  if (invocation === undefined) return outcome.innocent && tries < LIMITS.maxInvocationAttempts ? 'repeat' : 'end';
  if (outcome.diedAlone) return afterCrash(invocation, countCrash);
  if (!outcome.innocent && !hasFoundNoProcess(outcome)) return 'end';
  if (outcome.innocent && tries < LIMITS.maxInvocationAttempts) return 'repeat';
  // A defect of ours that comes again: an error that says so, instead of a run without end.
  if (outcome.fault.code === 'INTERNAL') return 'end';
  throw new Error(`The sandbox could not run ${invocation.id}: ${outcome.fault.message}`);
}

async function afterCrash(
  invocation: HeldInvocation,
  countCrash: (invocation: HeldInvocation) => Promise<number | undefined>,
): Promise<AfterLoss> {
  const crashes = await countCrash(invocation);
  if (crashes === undefined) throw new Error(`The lease of ${invocation.id} was lost while it ran`);
  if (crashes >= LIMITS.maxInvocationAttempts) return 'abandon';
  // From now on this node, too, runs it alone.
  invocation.crashes = crashes;
  await sleep(pauseAfterCrashMs(crashes));
  return 'repeat';
}

/** `crashes`: so far, at least 1. */
export function pauseAfterCrashMs(crashes: number): number {
  return FIRST_PAUSE_MS * PAUSE_FACTOR ** (crashes - 1);
}

/**
 * Each try costs the machine what it lacks, and repeats what the run did outside: so there is a
 * pause before the next, and a last one. Resolves to false after that.
 */
export async function mayRepeatStarved(tries: number): Promise<boolean> {
  if (tries >= LIMITS.maxInvocationAttempts) return false;
  await sleep(pauseAfterCrashMs(tries));
  return true;
}

/** It waited for a process in vain. */
export function hasFoundNoProcess(outcome: Extract<RunOutcome, { ok: false }>): boolean {
  const limit = outcome.fault.limit?.name;
  return limit === 'maxAloneWaitMs' || limit === 'maxQueuedRunsPerTenant';
}
