import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { ProcessStarter } from '../starter/starter.ts';
import type { Prefix } from './command-prefix.ts';
import { findHotCores, ownCores, setCores } from './cpu-cores.ts';
import type { ProcessRights } from './process-rights.ts';
import { setSessionNice } from '../starter/session-nice.ts';

/** Niceness of a sandbox process: below the node and its database, which serve all tenants. */
export const USUAL_NICE = 1;
/**
 * Niceness of a starting session. It computes for some tenths of a second, and nothing else should
 * wait for that.
 */
export const BOOT_NICE = 3;
/** Niceness of a build process and its session. A save takes seconds anyway. */
export const BUILD_NICE = 5;
/**
 * Niceness of a process that just began a long computation and may end soon. Gets less than half of
 * a usual share.
 */
const WARM_NICE = 5;
/**
 * Niceness of a process that computes on. Gets an eighth of a usual share, so it still answers on a
 * full machine.
 */
const HOT_NICE = 10;
/**
 * Niceness of all threads but the first. Together they get no more than the first, which has to
 * watch them.
 */
const HOT_THREAD_NICE = 19;

/**
 * CPU time beyond that of short runs and beyond the free share, after which a process is warm, then
 * hot. If its priority cannot be raised again, it must be replaced afterwards, so it never becomes
 * warm.
 */
const WARM_MS = 60;
const HOT_MS = 200;
const FREE_CORES = 0.1;
/**
 * Or when it was seen computing for so long: where many want the processors, it gets too little to
 * tell by.
 */
const WARM_COMPUTING_MS = 150;
const HOT_COMPUTING_MS = 1_000;
/** It has calmed down when none of its threads was seen computing for so long. */
const CALM_MS = 2_000;
/**
 * Each thread is a file that the node's own thread reads, up to 20 times a second. Only components
 * with dozens of computing threads have this many.
 */
const MAX_THREADS_READ = 64;
/**
 * Largest part of a process's CPU time that one ended run explains. A run explains twice its own
 * time, because of messages and garbage collection. A process with thousands of short runs is busy,
 * not hot.
 */
const MAX_EXPLAINED_MS = 40;
const RUN_OVERHEAD_MS = 0.5;

/**
 * Ways to start what will compute, best first: with less priority than others, and on half of the
 * processors.
 */
export function lowPriorityPrefixes(nice: number): Prefix[] {
  const priority = ['nice', '-n', String(nice)];
  const cores = findHotCores();
  return cores === undefined ? [priority] : [['taskset', '-c', cores.join(','), ...priority], priority];
}

/** The same way, on all processors. */
export function onAllCores(way: Prefix): Prefix {
  return way[0] === 'taskset' ? way.slice(way.indexOf('nice')) : way;
}

/**
 * Lowers the priority of a process during a long computation. Also keeps it on half of the
 * processors, so that short runs do not suffer. Does as much of this as the node may.
 */
export class CpuPriority {
  readonly #pid: number;
  readonly #starter: Pick<ProcessStarter, 'command'>;
  readonly #rights: ProcessRights;
  readonly #hotCores: readonly number[] | undefined;
  readonly #mayLower: boolean;
  /** Whether a lowered priority can be raised again. */
  readonly #isReversible: boolean;
  #sessionNice = { value: BOOT_NICE, isSet: true };
  #explainedMs = 0;
  #beyondMs = 0;
  #computingSinceMs: number | undefined;
  #before: { atMs: number; cpuMs: number } | undefined;
  #level: 'usual' | 'warm' | 'hot' = 'usual';
  #busyAtMs = 0;

  constructor(pid: number, starter: Pick<ProcessStarter, 'command'>, rights: ProcessRights) {
    this.#pid = pid;
    this.#starter = starter;
    this.#rights = rights;
    this.#hotCores = rights.cores ? findHotCores() : undefined;
    this.#mayLower = rights.session || rights.lower || this.#hotCores !== undefined;
    this.#isReversible = rights.session || rights.raise || !rights.lower;
  }

  /** It has started, behind others, and does nothing yet. */
  booted(): void {
    if (this.isHot) return;
    this.#setSession(USUAL_NICE);
    if (this.#hotCores !== undefined) setCores(this.#starter, this.#pid, ownCores());
  }

  /**
   * Before it has computed for long itself: its tenant's others have. Nothing is done that could
   * not be undone.
   */
  expectHot(nowMs: number): void {
    if (this.#mayLower && this.#isReversible && this.#level === 'usual') this.#lower('warm', nowMs);
  }

  #lower(level: 'warm' | 'hot', nowMs: number): void {
    this.#busyAtMs = nowMs;
    if (this.#level === 'usual' && this.#hotCores !== undefined) setCores(this.#starter, this.#pid, this.#hotCores);
    this.#level = level;
    const nice = level === 'hot' ? HOT_NICE : WARM_NICE;
    this.#setSession(nice);
    this.#setThreads(nice, HOT_THREAD_NICE);
  }

  get isHot(): boolean {
    return this.#level !== 'usual';
  }

  runEnded(cpuMs: number): void {
    this.#explainedMs += Math.min(2 * cpuMs + RUN_OVERHEAD_MS, MAX_EXPLAINED_MS);
  }

  /**
   * Given the processor time that the process has used so far, a few times a second. False when a
   * process that was hot cannot be given its priority back, which takes a privilege: it should be
   * replaced.
   */
  look(nowMs: number, cpuMs: number): boolean {
    const before = this.#before ?? { atMs: nowMs, cpuMs };
    this.#before = { atMs: nowMs, cpuMs };
    if (!this.#mayLower) return true;
    if (!this.#sessionNice.isSet) this.#setSession(this.#sessionNice.value);
    this.#count(nowMs, cpuMs - before.cpuMs, nowMs - before.atMs);
    if (this.#computingSinceMs !== undefined) this.#busyAtMs = nowMs;
    if (this.#level !== 'hot' && this.#isBeyond(nowMs, HOT_MS, HOT_COMPUTING_MS)) this.#lower('hot', nowMs);
    else if (this.#level === 'usual' && this.#isReversible && this.#isBeyond(nowMs, WARM_MS, WARM_COMPUTING_MS))
      this.#lower('warm', nowMs);
    return !this.isHot || nowMs - this.#busyAtMs <= CALM_MS || this.#calmDown();
  }

  #calmDown(): boolean {
    this.#level = 'usual';
    if (this.#hotCores !== undefined) setCores(this.#starter, this.#pid, ownCores());
    this.#setSession(USUAL_NICE);
    return this.#setThreads(USUAL_NICE, USUAL_NICE);
  }

  #count(nowMs: number, usedMs: number, elapsedMs: number): void {
    const beyondMs = Math.max(0, usedMs - this.#explainedMs);
    this.#explainedMs = 0;
    // A hot process already runs behind all others, so its time does not count.
    this.#beyondMs = this.#level === 'hot' ? 0 : Math.max(0, this.#beyondMs + beyondMs - elapsedMs * FREE_CORES);
    const mayCompute = beyondMs >= usedMs / 2 && (usedMs > 0 || this.#computingSinceMs !== undefined);
    const computes = mayCompute && hasThreadThatComputes(this.#pid, usedMs);
    this.#computingSinceMs = computes ? (this.#computingSinceMs ?? nowMs) : undefined;
  }

  #isBeyond(nowMs: number, beyondMs: number, computingMs: number): boolean {
    return this.#beyondMs > beyondMs || nowMs - (this.#computingSinceMs ?? nowMs) >= computingMs;
  }

  // Without root, the kernel allows ten changes of sessions a second. The next check tries a failed
  // change again.
  #setSession(nice: number): void {
    this.#sessionNice = { value: nice, isSet: !this.#rights.session || setSessionNice(this.#pid, nice) };
  }

  /**
   * With autogroup, the kernel shares time between sessions, and a thread's niceness counts only
   * within its session. Without it, a session's niceness has no effect. So both are set. False if
   * the niceness of a thread could not be set.
   */
  #setThreads(nice: number, threadNice: number): boolean {
    const { session, lower, raise } = this.#rights;
    // If the session's share works, do not lower a thread that could not be raised again.
    if (!raise && (session || !lower)) return true;
    try {
      for (const id of threadsOf(this.#pid).map(Number)) setPriority(id, id === this.#pid ? nice : threadNice);
      return true;
    } catch (error) {
      // A thread, or the process, that ended meanwhile needs nothing.
      return !isRefusal(error);
    }
  }
}

/**
 * Runs, or waits for a processor: `R` in
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html. Of a process with more threads than
 * are looked at it is enough that it used some time.
 */
function hasThreadThatComputes(pid: number, usedMs: number): boolean {
  try {
    // The kernel counts a link for each thread: none of them has to be listed for it.
    if (statSync(`/proc/${pid}/task`).nlink > MAX_THREADS_READ) return usedMs > 0;
    return threadsOf(pid).some((thread) =>
      /\) R [^)]*$/.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
    );
  } catch {
    // A thread that ends meanwhile is one that computed until now.
    return true;
  }
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`);
}

function isRefusal(error: unknown): boolean {
  const { code, info } = error as { code?: string; info?: { code?: string } };
  return [code, info?.code].some((name) => name === 'EACCES' || name === 'EPERM');
}
