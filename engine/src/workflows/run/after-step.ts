import { setTimeout as sleep } from 'node:timers/promises';
import { type RunOutcome, wasStarved } from '@headwater/sandbox-runtime';
import { LIMITS } from '@headwater/shared';
import { hasFoundNoProcess, mayRepeatStarved, pauseAfterCrashMs } from '../../runs/index.ts';

/**
 * Tries of one step on this node. A node that takes over starts anew, so the end of a node counts
 * for nothing.
 */
export interface StepTries {
  /** This one included. */
  tries: number;
  /** Times that its sandbox process ended while it was alone in it. */
  crashes: number;
  /** How long those together ran that ended at their time. */
  lateMs: number;
}

export interface EndedTry {
  outcome: RunOutcome;
  /** How long it was held up by this node: see HeldUp. */
  heldUpMs: number;
  /** Time of the execution that the try was given. */
  wallMs: number;
  /** In a test of a step: a client waits, and nothing is kept to be run again. */
  isTest: boolean;
}

/**
 * A node that is too busy holds up each try of a step that never ends: this often the step has had
 * its whole time, and enough.
 */
const MAX_TIMES = 10;

/**
 * `end`: the outcome is the step's own. `abandon`: its process ended too often while it was alone
 * in it.
 */
export type AfterStep = 'repeat' | 'end' | 'abandon';

/**
 * Decides what follows a run of a step. Giving up is for poison alone: only a process that this
 * node saw die while the step was alone in it counts. Throws where the sandbox could not run the
 * step at all: its execution is then given back, which counts nothing.
 */
export async function afterStep(state: StepTries, { outcome, heldUpMs, wallMs, isTest }: EndedTry): Promise<AfterStep> {
  if (outcome.ok) return 'end';
  if (outcome.fault.code === 'WALL_LIMIT' && heldUpMs > 0) {
    // Had it not been held up, it would have had time left.
    state.lateMs += Math.max(0, outcome.wallMs - heldUpMs);
    return state.lateMs < MAX_TIMES * wallMs ? 'repeat' : 'end';
  }
  if (wasStarved(outcome)) return (await mayRepeatStarved(state.tries)) ? 'repeat' : 'end';
  if (outcome.diedAlone) return afterCrash(state);
  if (!outcome.innocent && !hasFoundNoProcess(outcome)) return 'end';
  if (outcome.innocent && state.tries < LIMITS.maxInvocationAttempts) return 'repeat';
  // A defect of ours that comes again: an error that says so, instead of a step without end.
  if (isTest || outcome.fault.code === 'INTERNAL') return 'end';
  throw new Error(`The sandbox could not run the step: ${outcome.fault.message}`);
}

async function afterCrash(state: StepTries): Promise<AfterStep> {
  state.crashes += 1;
  if (state.crashes >= LIMITS.maxInvocationAttempts) return 'abandon';
  await sleep(pauseAfterCrashMs(state.crashes));
  return 'repeat';
}
