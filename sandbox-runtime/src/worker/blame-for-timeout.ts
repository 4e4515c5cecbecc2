import { limitFault } from '../bridge/exceeded-limit.ts';
import type { ComponentIsolate } from './component-isolate.ts';
import { blockedFault, type Fault, starvedFault } from './fault.ts';
import type { ProcessRun } from './process-run.ts';

/**
 * A call with this much CPU time is computing. If other runs, or other processes, kept a run from
 * computing for this part of its time, the run itself was not slow.
 */
const COMPUTING_NS = 50e6;
const HELD_UP_PART = 1 / 4;
/** On a machine that is no more than busy, a process waits for less. */
const MIN_STARVED_MS = 2_000;
/** CPU time of a process, or part of a run's time, from which on the run had a chance. */
const MOST_STARVED_NS = 1e9;
const STARVED_PART = 1 / 20;

export interface TimeoutBlame {
  fault: Fault;
  /** `isolate`: the run computes in it, and only the end of the isolate ends that. */
  blame: 'run' | 'isolate' | 'nobody';
}

/** Says whose fault it is that the time of a run is over. */
export function blameForTimeout(isolate: ComponentIsolate, run: ProcessRun): TimeoutBlame {
  const { wallMs, wallLimit } = run.limits;
  const limit = { name: wallLimit, value: wallMs, used: Math.ceil(run.wallMs()) };
  if (run.starvedMs > Math.max(wallMs * HELD_UP_PART, MIN_STARVED_MS) && !hasComputed(isolate, run))
    return { fault: starvedFault(limit, run.starvedMs), blame: 'nobody' };
  const fault = limitFault(limit);
  // Those that wait for the isolate would be ended by their own limits before it is.
  const computes = isolate.guest.oldestCall();
  if (computes?.owner === run && computes.cpuNs > COMPUTING_NS && isolate.runs.size > 1)
    return { fault, blame: 'isolate' };
  if (run.blockedMs > wallMs * HELD_UP_PART) return { fault: blockedFault(run.blockedMs), blame: 'nobody' };
  return { fault, blame: 'run' };
}

/** It computes, and its process had some time for that: a loop, on however busy a machine. */
function hasComputed(isolate: ComponentIsolate, run: ProcessRun): boolean {
  if (isolate.guest.executing()?.owner !== run) return false;
  return run.processNs() > Math.min(MOST_STARVED_NS, run.limits.wallMs * 1e6 * STARVED_PART);
}
