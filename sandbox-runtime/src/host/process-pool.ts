import { availableParallelism } from 'node:os';
import { createPresence, createReadPace, LIMITS } from '@headwater/shared';
import { limitFault } from '../protocol/exceeded-limit.ts';
import type { RunFault } from '../sandbox.ts';
import type { ProcessClient } from './run-client.ts';
import { type ProcessOptions, SandboxProcess } from './sandbox-process.ts';
import { TenantQueue } from './tenant-queue.ts';

const CHECK_MS = 250;
const STALL_MS = 3 * CHECK_MS;
const GLANCE_MS = 50;
/** For so long after a process of a tenant computed for long, its new ones are taken for others of the kind. */
const HOT_TENANT_MS = 10_000;
const REFILL_DELAY_MS = 50;
/** More at a time would not be there any sooner: starting one is work for a processor. */
const MAX_BOOTING = Math.max(2, availableParallelism());
/** Boots that fail in a row before waiting tasks are given up, and the pause between them. */
const MAX_FAILED_BOOTS = 5;
const FAILED_BOOT_PAUSE_MS = 500;
/** Part of all processes that one tenant may have, and at least the second number: one that it shares and one for a run alone. */
const TENANT_SHARE = 1 / 4;
const MIN_OF_TENANT = 2;

export interface PoolOptions {
  process: Omit<ProcessOptions, 'onFree' | 'onExit' | 'pace'>;
  blankProcesses: number;
  maxProcesses: number;
  maxRunsPerProcess: number;
  recycleAfterRuns: number;
  recycleAfterMs: number;
  idleMs: number;
  maxQueuedPerTenant: number;
}

/** Something to do in a process of a tenant. */
export interface Placement {
  tenantId: string;
  /** In a process that serves nothing else, before or after. */
  alone: boolean;
  client: ProcessClient;
  start(process: SandboxProcess): void;
}

/**
 * Gives work to processes. A process belongs to one tenant from its first task to its end: it starts blank, is taken by
 * a tenant, and is never handed on. At the bound on processes an idle one of another tenant makes room, otherwise work
 * waits: first come first served within a tenant, in turn between tenants.
 *
 * Most tenants need one process. One whose runs are to be alone, or go on for long in processes that take no more, would have all of
 * them: it waits at its share.
 */
export class ProcessPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<SandboxProcess>();
  readonly #blank = new Set<SandboxProcess>();
  /** Killed and no longer counted, but not gone yet. */
  readonly #ending = new Set<SandboxProcess>();
  readonly #shared = new Map<string, SandboxProcess>();
  /** Of each tenant, until they are gone or killed. */
  readonly #owned = new Map<string, Set<SandboxProcess>>();
  readonly #queue = new TenantQueue<Placement>();
  readonly #presence = createPresence();
  readonly #pace = createReadPace({
    presence: this.#presence,
    bytesPerSecond: LIMITS.sandboxReadBytesPerSecond,
    burstMs: LIMITS.sandboxReadBurstMs,
  });
  #booting = 0;
  #failedBoots = 0;
  /** When a process of the tenant was last seen computing for long. */
  readonly #hotAtMs = new Map<string, number>();
  #crashes = 0;
  #stopped = false;
  #checkedAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #glanceTimer: NodeJS.Timeout | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Boots the first process; rejects when that fails. */
  async start(): Promise<void> {
    const first = this.#spawn();
    try {
      await first.ready;
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
    this.#glanceTimer = setInterval(() => this.#glance(), GLANCE_MS);
    this.#glanceTimer.unref();
  }

  place(placement: Placement): void {
    this.#presence.saw(placement.tenantId, performance.now());
    if (this.#stopped)
      return placement.client.lose({ code: 'SANDBOX_CRASHED', message: 'The sandbox is stopped' }, true);
    if (this.#queue.size === 0 && this.#tryPlace(placement)) return;
    const busy = this.#tooManyWait(placement);
    if (busy !== undefined) return placement.client.lose(busy, true);
    this.#queue.add(lineOf(placement), placement);
    this.#dispatch();
  }

  #tooManyWait(placement: Placement): RunFault | undefined {
    const value = this.#options.maxQueuedPerTenant;
    const used = this.#queue.countOf(lineOf(placement)) + 1;
    if (used <= value) return undefined;
    return { ...limitFault({ name: 'maxQueuedRunsPerTenant', value, used }), code: 'UNAVAILABLE' };
  }

  /** Whether the tenant has runs in flight. */
  isBusy(tenantId: string): boolean {
    return (this.#shared.get(tenantId)?.inFlight ?? 0) > 0;
  }

  stats(): { processes: number; idleProcesses: number; runsInFlight: number; crashes: number } {
    const all = [...this.#all];
    return {
      processes: all.length,
      idleProcesses: all.filter((process) => process.inFlight === 0).length,
      runsInFlight: all.reduce((sum, process) => sum + process.inFlight, 0),
      crashes: this.#crashes,
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    clearInterval(this.#glanceTimer);
    clearTimeout(this.#retry);
    clearTimeout(this.#refillTimer);
    const fault = { code: 'SANDBOX_CRASHED', message: 'The sandbox was stopped' } as const;
    for (const waiting of this.#queue.drain()) waiting.client.lose(fault, true);
    const all = [...this.#all];
    for (const process of all) {
      process.expected = true;
      process.kill(fault, () => true);
    }
    await Promise.all([...all, ...this.#ending].map((process) => process.whenExited()));
  }

  #dispatch(): void {
    this.#queue.serve((placement) => this.#tryPlace(placement));
    this.#refill();
  }

  #tryPlace(placement: Placement): boolean {
    const process = placement.alone ? undefined : this.#sharedProcess(placement.tenantId);
    if (process !== undefined) {
      if (process.inFlight >= this.#options.maxRunsPerProcess) return false;
      placement.start(process);
      return true;
    }
    // One that was killed is among them until its end is heard of.
    const fresh = [...this.#blank].find((blank) => !blank.draining && !blank.exited);
    if (fresh === undefined || !this.#mayHaveAnother(placement)) return false;
    this.#blank.delete(fresh);
    this.#refillSoon();
    fresh.tenantId = placement.tenantId;
    fresh.alone = placement.alone;
    this.#owned.set(placement.tenantId, (this.#owned.get(placement.tenantId) ?? new Set()).add(fresh));
    if (!placement.alone) this.#shared.set(placement.tenantId, fresh);
    if (this.#hotAtMs.has(placement.tenantId)) fresh.expectHot();
    placement.start(fresh);
    return true;
  }

  /** Those of runs alone leave one for the others. */
  #mayHaveAnother({ tenantId, alone }: Placement): boolean {
    const own = this.#owned.get(tenantId);
    if (own === undefined) return true;
    const share = Math.max(MIN_OF_TENANT, Math.floor(this.#options.maxProcesses * TENANT_SHARE));
    return own.size < share && (!alone || [...own].filter((process) => process.alone).length < share - 1);
  }

  #sharedProcess(tenantId: string): SandboxProcess | undefined {
    const process = this.#shared.get(tenantId);
    if (process === undefined) return undefined;
    if (process.draining || process.exited) {
      this.#shared.delete(tenantId);
      return undefined;
    }
    return process;
  }

  // Starting a process holds this thread for some milliseconds, which the run that took the blank one need not wait for.
  #refillSoon(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = setTimeout(() => this.#refill(), REFILL_DELAY_MS);
  }

  /** Keeps as many processes booting as waiting work and the stock of blank ones need, within the bound. */
  #refill(): void {
    if (this.#stopped || this.#retry !== undefined) return;
    const wanted = Math.min(this.#neededBlanks() + this.#options.blankProcesses, this.#options.maxProcesses);
    while (this.#booting < MAX_BOOTING && this.#blank.size + this.#booting < wanted) {
      if (this.#all.size >= this.#options.maxProcesses && !this.#evictIdle()) return;
      this.#spawn();
    }
  }

  /** Waiting work that no process of its tenant can take, and for which it may have another. */
  #neededBlanks(): number {
    const needsOwn = (placement: Placement): boolean =>
      placement.alone || this.#sharedProcess(placement.tenantId) === undefined;
    return this.#queue.count((placement) => needsOwn(placement) && this.#mayHaveAnother(placement));
  }

  /** Ends the longest idle process of a tenant, if work is waiting for it; a stock of blank ones is not worth a warm one. */
  #evictIdle(): boolean {
    if (this.#neededBlanks() <= this.#blank.size + this.#booting) return false;
    let oldest: SandboxProcess | undefined;
    for (const process of this.#shared.values()) {
      if (process.inFlight > 0 || process.exited || this.#queue.has(process.tenantId ?? '')) continue;
      if (oldest === undefined || process.idleSinceMs < oldest.idleSinceMs) oldest = process;
    }
    if (oldest === undefined) return false;
    this.#end(oldest);
    return true;
  }

  #spawn(): SandboxProcess {
    this.#booting += 1;
    const process = new SandboxProcess({
      ...this.#options.process,
      pace: this.#pace,
      onFree: () => this.#dispatch(),
      onExit: (exited) => this.#exited(exited),
    });
    this.#all.add(process);
    process.ready.then(
      () => this.#booted(process),
      (error: unknown) => this.#bootFailed(error),
    );
    return process;
  }

  #booted(process: SandboxProcess): void {
    this.#booting -= 1;
    this.#failedBoots = 0;
    if (!process.exited && !this.#stopped) this.#blank.add(process);
    this.#dispatch();
  }

  #bootFailed(error: unknown): void {
    this.#booting -= 1;
    this.#failedBoots += 1;
    if (this.#stopped) return;
    this.#options.process.log('error', 'A sandbox process failed to boot', {
      error: String(error),
      failures: this.#failedBoots,
    });
    if (this.#failedBoots >= MAX_FAILED_BOOTS) {
      const fault = { code: 'SANDBOX_CRASHED', message: 'No sandbox process can be started' } as const;
      for (const waiting of this.#queue.drain()) waiting.client.lose(fault, true);
    }
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#dispatch();
    }, FAILED_BOOT_PAUSE_MS);
  }

  #exited(process: SandboxProcess): void {
    this.#all.delete(process);
    this.#blank.delete(process);
    this.#ending.delete(process);
    this.#disown(process);
    if (!process.expected) this.#crashes += 1;
    if (!this.#stopped) this.#dispatch();
  }

  #check(): void {
    const nowMs = performance.now();
    const stalled = nowMs - this.#checkedAtMs > STALL_MS;
    this.#checkedAtMs = nowMs;
    // This thread was held up: answers that came in time may not have been read yet. They are before the next check.
    if (stalled) return;
    const { recycleAfterRuns, recycleAfterMs, idleMs } = this.#options;
    for (const process of this.#all) {
      process.check(nowMs);
      if (process.tenantId === undefined || process.exited) continue;
      if (process.tasksServed >= recycleAfterRuns || nowMs - process.startedAtMs > recycleAfterMs)
        process.draining = true;
      if (process.inFlight === 0 && (process.draining || nowMs - process.idleSinceMs > idleMs)) this.#end(process);
    }
    this.#dispatch();
  }

  #glance(): void {
    const nowMs = performance.now();
    for (const process of this.#all) {
      process.glance(nowMs);
      if (process.isHot && process.tenantId !== undefined) this.#hotAtMs.set(process.tenantId, nowMs);
    }
    for (const [tenant, atMs] of this.#hotAtMs) if (nowMs - atMs > HOT_TENANT_MS) this.#hotAtMs.delete(tenant);
  }

  #disown(process: SandboxProcess): void {
    const { tenantId } = process;
    if (tenantId === undefined) return;
    if (this.#shared.get(tenantId) === process) this.#shared.delete(tenantId);
    const own = this.#owned.get(tenantId);
    if (own?.delete(process) === true && own.size === 0) this.#owned.delete(tenantId);
  }

  #end(process: SandboxProcess): void {
    this.#disown(process);
    this.#all.delete(process);
    this.#ending.add(process);
    process.end();
  }
}

/** Where it waits: what is to be alone may have to wait for longer, and not in front of what only needs the tenant's process. */
function lineOf({ tenantId, alone }: Placement): string {
  return alone ? `${tenantId} alone` : tenantId;
}
