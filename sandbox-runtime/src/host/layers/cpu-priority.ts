import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { findHotCores, ownCores, setCores } from './cpu-cores.ts';

/** Niceness of a sandbox process: behind the node and its database, which serve everybody. */
export const USUAL_NICE = 1;
/** Of a process that builds a component: whoever saves one waits for seconds anyway. */
export const BUILD_NICE = 5;
/** Of one that computes for long: an eighth of a usual share, so that it still answers when the machine is full. */
const HOT_NICE = 10;
/** Of its threads but the first, which has to watch them: between them they get no more than it does. */
const HOT_THREAD_NICE = 19;

/** A process is hot when it has used this much processor time beyond that of short runs, less what is always free. */
const HOT_MS = 200;
const FREE_CORES = 0.1;
/** Or when it was seen computing so many times in a row: where many want the processors, it gets too little to tell by. */
const HOT_LOOKS = 4;
/** It has calmed down when none of its threads was seen computing for so long. */
const CALM_MS = 2_000;
/**
 * What a run that ended explains of its process's time: its own, as much again for passing messages and collecting garbage,
 * and no more than this. A process that does thousands of short runs is busy, not hot.
 */
const MAX_EXPLAINED_MS = 40;
const RUN_OVERHEAD_MS = 0.5;

/**
 * Lowers the priority of a process while it computes for long, and keeps it to half of the processors, so that it takes
 * nothing from those that do not.
 */
export class CpuPriority {
  readonly #pid: number;
  readonly #hotCores = findHotCores();
  #explainedMs = 0;
  #beyondMs = 0;
  #looksComputing = 0;
  #before: { atMs: number; cpuMs: number } | undefined;
  #hot = false;
  #busyAtMs = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  get isHot(): boolean {
    return this.#hot;
  }

  runEnded(cpuMs: number): void {
    this.#explainedMs += Math.min(2 * cpuMs + RUN_OVERHEAD_MS, MAX_EXPLAINED_MS);
  }

  /**
   * Given the processor time that the process has used so far, a few times a second. False when a process that was hot
   * cannot be given its priority back, which takes a privilege: it should be replaced.
   */
  look(nowMs: number, cpuMs: number): boolean {
    const before = this.#before ?? { atMs: nowMs, cpuMs };
    this.#before = { atMs: nowMs, cpuMs };
    const isLong = this.#computesForLong(cpuMs - before.cpuMs, nowMs - before.atMs);
    if (isLong || this.#looksComputing > 0) this.#busyAtMs = nowMs;
    if (!this.#hot && isLong) {
      this.#hot = true;
      if (this.#hotCores !== undefined) setCores(this.#pid, this.#hotCores);
      changeNice(this.#pid, HOT_NICE, HOT_THREAD_NICE);
    } else if (this.#hot && nowMs - this.#busyAtMs > CALM_MS) {
      this.#hot = false;
      if (this.#hotCores !== undefined) setCores(this.#pid, ownCores());
      return changeNice(this.#pid, USUAL_NICE, USUAL_NICE);
    }
    return true;
  }

  #computesForLong(usedMs: number, elapsedMs: number): boolean {
    const beyondMs = Math.max(0, usedMs - this.#explainedMs);
    this.#explainedMs = 0;
    // What is used while it is hot is used behind all others.
    this.#beyondMs = this.#hot ? 0 : Math.max(0, this.#beyondMs + beyondMs - elapsedMs * FREE_CORES);
    const mayCompute = beyondMs >= usedMs / 2 && (usedMs > 0 || this.#looksComputing > 0);
    this.#looksComputing = mayCompute && hasThreadThatComputes(this.#pid) ? this.#looksComputing + 1 : 0;
    return this.#beyondMs > HOT_MS || (!this.#hot && this.#looksComputing >= HOT_LOOKS);
  }
}

/** The share of the process's session against those of others. The kernel may not have such shares, or not let us set them. */
export function setSessionNice(pid: number, nice: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // The niceness of the threads has to do.
  }
}

/**
 * Where the kernel shares out time between sessions (autogroup), the niceness of a thread counts within its session only, and
 * that of a session elsewhere not at all: both are set. False where a thread's could not be.
 */
function changeNice(pid: number, nice: number, threadNice: number): boolean {
  setSessionNice(pid, nice);
  // Only root may make a thread less nice again; anybody may do that to a session.
  if (process.getuid?.() !== 0 && hasSessionShares()) return true;
  try {
    for (const thread of threadsOf(pid)) setPriority(Number(thread), Number(thread) === pid ? nice : threadNice);
    return true;
  } catch (error) {
    // A thread, or the process, that ended meanwhile needs nothing.
    return !isRefusal(error);
  }
}

function hasSessionShares(): boolean {
  try {
    return readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').trim() === '1';
  } catch {
    // A kernel that was built without them.
    return false;
  }
}

/** Runs, or waits for a processor: `R` in https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function hasThreadThatComputes(pid: number): boolean {
  try {
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
