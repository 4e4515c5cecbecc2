import { describeLimit, limitFault } from '../bridge/exceeded-limit.ts';
import { CpuPriority } from '../confinement/cpu-priority.ts';
import type { ProcessRights } from '../confinement/process-rights.ts';
import type { RunFault } from '../sandbox-types.ts';
import type { ProcessStarter } from '../starter/starter.ts';
import { readUsage } from './read-usage.ts';

/** Part of its memory over which a process takes no new runs. */
const FULL = 0.7;

/**
 * CPU time without a task, for cleanup after the last one. No tenant is charged for more, and no
 * run's limit ends it.
 */
const MAX_IDLE_CPU_MS = 2_000;

/**
 * Result of a check: nothing to do, replace the process for later runs, or end it. It ends for too
 * much memory, or for computing without a task.
 */
export type UsageVerdict = { kind: 'fine' | 'replace' | 'end-idle' } | { kind: 'end-full'; memoryMb: number };

/** Tasks that a process has had so far. */
export interface TaskCount {
  inFlight: number;
  tasksServed: number;
}

/**
 * Checks a process's use of the machine: its memory is limited, and a long computation lowers its
 * priority.
 */
export class UsageWatch {
  readonly #pid: number;
  readonly #maxMemoryMb: number;
  readonly #priority: CpuPriority;
  #idle: { tasksServed: number; cpuMs: number } | undefined;

  constructor(pid: number, maxMemoryMb: number, starter: Pick<ProcessStarter, 'command'>, rights: ProcessRights) {
    this.#pid = pid;
    this.#maxMemoryMb = maxMemoryMb;
    this.#priority = new CpuPriority(pid, starter, rights);
  }

  booted(): void {
    this.#priority.booted();
  }

  /** Its priority was lowered, and is to be given back. */
  get isHot(): boolean {
    return this.#priority.isHot;
  }

  /** Its tenant has computed for long a moment ago. */
  expectHot(nowMs: number): void {
    this.#priority.expectHot(nowMs);
  }

  runEnded(cpuMs: number): void {
    this.#priority.runEnded(cpuMs);
  }

  look(nowMs: number, tasks: Readonly<TaskCount>): UsageVerdict {
    const usage = readUsage(this.#pid);
    if (usage === undefined) return { kind: 'fine' };
    if (usage.memoryMb > this.#maxMemoryMb) return { kind: 'end-full', memoryMb: usage.memoryMb };
    if (this.#idleCpuMs(tasks, usage.cpuMs) > MAX_IDLE_CPU_MS) return { kind: 'end-idle' };
    const keepsPriority = this.#priority.look(nowMs, usage.cpuMs);
    return { kind: keepsPriority && usage.memoryMb <= this.#maxMemoryMb * FULL ? 'fine' : 'replace' };
  }

  /** Since the first look that found it without a task. */
  #idleCpuMs({ inFlight, tasksServed }: TaskCount, cpuMs: number): number {
    if (inFlight > 0 || tasksServed === 0) this.#idle = undefined;
    else if (this.#idle?.tasksServed !== tasksServed) this.#idle = { tasksServed, cpuMs };
    return this.#idle === undefined ? 0 : cpuMs - this.#idle.cpuMs;
  }
}

/**
 * The fault of runs in a process over its memory limit. `used`: at least; the kernel, which may be
 * the first to end it, does not say.
 */
export function outOfMemory(value: number, used: number): RunFault {
  const limit = { name: 'sandboxMemoryMb', value, used } as const;
  // The operator knows it by the name of the variable.
  return { ...limitFault(limit), message: describeLimit(limit, 'HEADWATER_SANDBOX_MEMORY_MB') };
}
