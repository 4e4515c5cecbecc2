import { availableParallelism } from 'node:os';
import { createActiveTenants, createReadPacer, LIMITS } from '@headwater/shared';
import { type Placement, PlacementQueue, type QueueBounds } from './placement-queue.ts';
import { ProcessShares, type ProcessUse } from './process-shares.ts';
import type { ProcessClient } from './run-client.ts';
import { type ProcessOptions, SandboxProcess } from './sandbox-process.ts';

/*
 * States of a process, and what moves it:
 *
 *   booting      `#spawn`. A failed boot is tried again; after MAX_FAILED_BOOTS waiting work ends.
 *   blank        booted: belongs to no tenant and has seen no code.
 *   taken        by a tenant, for its shared runs or for one run alone. It is never handed on.
 *   draining     old, worn or condemned: takes no more tasks and ends after its last one.
 *   ending       killed, and no longer counted: its place may be taken.
 *   gone         its end was heard of; tasks that it still had are lost, innocent or not.
 *
 * A placement is queued until a process of its tenant has room or a blank one may be taken. All of
 * it is in memory, and runs are durable elsewhere: when a node dies, its starter kills them all,
 * and another node runs the invocations again.
 */

const CHECK_MS = 250;
const STALL_MS = 3 * CHECK_MS;
const GLANCE_MS = 50;
/**
 * For so long after a process of a tenant computed for long, its new ones are taken for others of
 * the kind.
 */
const HOT_TENANT_MS = 10_000;
const REFILL_DELAY_MS = 50;
/** More at a time would not be there any sooner: starting one is work for a processor. */
const MAX_BOOTING = Math.max(2, availableParallelism());
/** Boots that fail in a row before waiting tasks are given up, and the pause between them. */
const MAX_FAILED_BOOTS = 5;
const FAILED_BOOT_PAUSE_MS = 500;

export interface PoolOptions extends QueueBounds {
  process: Omit<ProcessOptions, 'onFree' | 'onExit' | 'pace'>;
  blankProcesses: number;
  maxProcesses: number;
  maxRunsPerProcess: number;
  recycleAfterRuns: number;
  recycleAfterMs: number;
  idleMs: number;
}

/**
 * Gives work to processes. A process belongs to one tenant from its first task to its end: it
 * starts blank, is taken by a tenant, and is never handed on. At the bound on processes an idle one
 * of another tenant makes room, otherwise work waits: first come first served within a tenant, in
 * turn between tenants. A tenant that has no process comes before those that want another, which
 * wait at the bounds of `ProcessShares`.
 */
export class ProcessPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<SandboxProcess>();
  readonly #blank = new Set<SandboxProcess>();
  /** Killed and no longer counted, but not gone yet. */
  readonly #ending = new Set<SandboxProcess>();
  readonly #shared = new Map<string, SandboxProcess>();
  /** Use of each process, until it ends or is killed. */
  readonly #uses = new Map<SandboxProcess, ProcessUse>();
  readonly #shares: ProcessShares;
  readonly #queue: PlacementQueue;
  readonly #activeTenants = createActiveTenants();
  readonly #pace = createReadPacer({
    activeTenants: this.#activeTenants,
    bytesPerSecond: LIMITS.readBytesPerSecond,
    burstMs: LIMITS.readBurstMs,
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
    this.#shares = new ProcessShares(options.maxProcesses);
    this.#queue = new PlacementQueue(options);
  }

  /**
   * Boots the first process. Rejects when several in a row fail: one may have been killed from
   * outside.
   */
  async start(): Promise<void> {
    try {
      await this.#bootFirst();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
    this.#glanceTimer = setInterval(() => this.#glance(), GLANCE_MS);
    this.#glanceTimer.unref();
  }

  async #bootFirst(): Promise<void> {
    for (;;) {
      try {
        await this.#spawn().ready;
        return;
      } catch (error) {
        if (this.#stopped || this.#failedBoots >= MAX_FAILED_BOOTS) throw error;
      }
    }
  }

  place(placement: Placement): void {
    const nowMs = performance.now();
    this.#activeTenants.saw(placement.tenantId, nowMs);
    if (this.#stopped)
      return placement.client.lose({ code: 'SANDBOX_CRASHED', message: 'The sandbox is stopped' }, 'nobody');
    if (this.#queue.size === 0 && this.#tryPlace(placement)) return;
    const refusal = this.#queue.add(placement, nowMs);
    if (refusal !== undefined) return placement.client.lose(refusal, 'nobody');
    this.#dispatch();
  }

  /** It waits no more. */
  withdraw(client: ProcessClient): void {
    this.#queue.remove(client);
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
    this.#queue.endAll(fault);
    const all = [...this.#all];
    for (const process of all) {
      process.expected = true;
      process.kill(fault, 'nobody');
    }
    await Promise.all([...all, ...this.#ending].map((process) => process.whenExited()));
  }

  #dispatch(): void {
    this.#queue.serve((placement) => this.#shares.countOf(placement.tenantId) === 0 && this.#tryPlace(placement));
    this.#queue.serve((placement) => this.#tryPlace(placement));
    this.#refill();
  }

  #tryPlace(placement: Placement): boolean {
    const process = placement.alone ? undefined : this.#sharedProcess(placement.tenantId);
    if (process !== undefined && !this.#replaces(process, placement)) {
      if (process.inFlight >= this.#options.maxRunsPerProcess) return false;
      placement.start(process);
      return true;
    }
    if (placement.alone) this.#makeWay(placement);
    const fresh = this.#freshProcess();
    if (fresh === undefined || !this.#shares.mayTake(placement)) return false;
    this.#take(fresh, placement);
    placement.start(fresh);
    return true;
  }

  #take(fresh: SandboxProcess, { tenantId, alone, wallMs }: Placement): void {
    this.#blank.delete(fresh);
    this.#refillSoon();
    fresh.tenantId = tenantId;
    fresh.alone = alone;
    const use = { tenantId, alone, wallMs };
    this.#uses.set(fresh, use);
    this.#shares.take(use);
    if (!alone) this.#shared.set(tenantId, fresh);
    if (this.#hotAtMs.has(tenantId)) fresh.expectHot();
  }

  #freshProcess(): SandboxProcess | undefined {
    // One that was killed is among them until its end is heard of.
    return [...this.#blank].find((blank) => !blank.draining && !blank.worn && !blank.exited);
  }

  /**
   * An old process is replaced in two cases: another one for its tenant is available, or a tenant
   * without a process waits and can get one in no other way. Otherwise new runs would wait for the
   * runs in it.
   */
  #replaces(old: SandboxProcess, placement: Placement): boolean {
    if (!this.#isOld(old)) return false;
    const hasAnother = this.#freshProcess() !== undefined && this.#shares.mayTake(placement);
    if (!hasAnother && !this.#isWaitedFor()) return false;
    old.draining = true;
    return true;
  }

  #isWaitedFor(): boolean {
    const isFull = this.#all.size >= this.#options.maxProcesses && this.#booting + this.#blank.size === 0;
    return isFull && this.#queue.firsts().some(({ tenantId }) => this.#shares.countOf(tenantId) === 0);
  }

  #isOld(process: SandboxProcess): boolean {
    const { recycleAfterRuns, recycleAfterMs } = this.#options;
    return (
      process.worn ||
      process.tasksServed >= recycleAfterRuns ||
      performance.now() - process.startedAtMs > recycleAfterMs
    );
  }

  /**
   * A tenant that may not have another process has the run alone in the place of its only one, once
   * that is idle.
   */
  #makeWay(placement: Placement): void {
    const { tenantId } = placement;
    const shared = this.#shared.get(tenantId);
    if (shared === undefined || shared.inFlight > 0 || shared.exited) return;
    if (this.#shares.countOf(tenantId) === 1 && !this.#shares.mayTake(placement)) this.#end(shared);
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

  // Starting a process holds this thread for some milliseconds, which the run that took the blank
  // one need not wait for.
  #refillSoon(): void {
    clearTimeout(this.#refillTimer);
    this.#refillTimer = setTimeout(() => this.#refill(), REFILL_DELAY_MS);
  }

  /**
   * Keeps as many processes booting as waiting work and the stock of blank ones need, within the
   * bound.
   */
  #refill(): void {
    if (this.#stopped || this.#retry !== undefined) return;
    const wanted = Math.min(this.#neededBlanks() + this.#options.blankProcesses, this.#options.maxProcesses);
    while (this.#booting < MAX_BOOTING && this.#blank.size + this.#booting < wanted) {
      if (this.#all.size >= this.#options.maxProcesses && !this.#evictIdle()) return;
      this.#spawn();
    }
  }

  /**
   * How many blank ones the waiting work could take, each in its turn: what no process of its
   * tenant can take.
   */
  #neededBlanks(): number {
    const taken: ProcessUse[] = [];
    for (const placement of this.#queue.firsts()) {
      const needsOwn = placement.alone || this.#sharedProcess(placement.tenantId) === undefined;
      if (!needsOwn || !this.#shares.mayTake(placement)) continue;
      this.#shares.take(placement);
      taken.push(placement);
    }
    for (const use of taken) this.#shares.giveBack(use);
    return taken.length;
  }

  /**
   * Ends the longest idle process of a tenant, if work is waiting for it; a stock of blank ones is
   * not worth a warm one.
   */
  #evictIdle(): boolean {
    if (this.#neededBlanks() <= this.#blank.size + this.#booting) return false;
    let oldest: SandboxProcess | undefined;
    for (const process of this.#shared.values()) {
      if (process.inFlight > 0 || process.exited || this.#queue.waitsForShared(process.tenantId ?? '')) continue;
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
    if (this.#failedBoots >= MAX_FAILED_BOOTS)
      this.#queue.endAll({ code: 'SANDBOX_CRASHED', message: 'No sandbox process can be started' });
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
    // This thread was held up: answers that came in time may not have been read yet. They are
    // before the next check.
    if (stalled) return;
    const { idleMs } = this.#options;
    for (const process of this.#all) {
      process.check(nowMs);
      if (process.tenantId === undefined || process.exited) continue;
      if (process.inFlight > 0) continue;
      if (process.draining || this.#isOld(process) || nowMs - process.idleSinceMs > idleMs) this.#end(process);
    }
    this.#dispatch();
    this.#queue.endLate(nowMs);
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
    const use = this.#uses.get(process);
    if (use === undefined) return;
    if (this.#shared.get(use.tenantId) === process) this.#shared.delete(use.tenantId);
    this.#uses.delete(process);
    this.#shares.giveBack(use);
  }

  #end(process: SandboxProcess): void {
    this.#disown(process);
    this.#all.delete(process);
    this.#ending.add(process);
    process.end();
  }
}
