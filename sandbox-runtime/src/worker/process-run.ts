import type { ExceededLimit } from '@headwater/shared';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import type { EntryLimits, EntryName, TimerKind } from '../bridge/messages.ts';
import { RunBudget } from '../bridge/run-budget.ts';
import { RunMessageLimits } from '../bridge/run-message-limits.ts';
import type { CpuClock } from './cpu-clock.ts';

/** The node's timers and the run's clock differ by less than this. */
const TIME_IS_UP_MS = 100;

/** Limits as an isolate is told them, and as this process reads them. */
export interface EncodedLimits {
  limits: GuestLimits;
  text: string;
}

/** Below this a count is not worth a reading of the clock. */
const SHORT_NS = 100e6;
/** The part of the time of a run that counts while its thread waits for a processor. */
const WAITING_COUNTS = 1 / 2;

/** Task of a process for a component; `load` only describes it. */
export interface Asked {
  run: number;
  entry: EntryName | 'load';
  limits: EntryLimits;
}

export interface OpenTimer {
  stop(): void;
  kind: TimerKind;
  repeats: boolean;
}

export interface OpenWork {
  requests: string[];
  calls: number;
  timers: number;
  intervals: number;
}

/** One run inside a sandbox process: its clocks, and its open work outside the isolate. */
export class ProcessRun {
  readonly run: number;
  readonly limits: EntryLimits;
  /** Limits that the isolate enforces for this run. */
  readonly guestLimits: EncodedLimits;
  readonly budget: RunBudget;
  readonly conduct: RunMessageLimits;
  readonly startedAtMs = performance.now();
  readonly timers = new Map<number, OpenTimer>();
  /** With a description of each, for people. */
  readonly fetches = new Map<number, string>();
  /** Calls into the isolate that have not returned, and answers that are on their way into it. */
  entries = 0;
  /** Its entry ended well; it is over when nothing is open any more that it began. */
  ending: { result: string | undefined } | undefined;
  /** Something was open when its entry ended: the isolate is to be told of its end. */
  waits = false;
  /** Ends a wait for intervals alone. */
  grace: NodeJS.Timeout | undefined;
  isGraceOver = false;
  /** How long others of its isolate computed meanwhile. */
  blockedMs = 0;
  /** How long its process got too little of the processors while code of its isolate was to run. */
  starvedMs = 0;
  readonly #reads = new Map<number, (answer: string) => void>();
  #nextRead = 1;
  #lastCall: Promise<unknown> = Promise.resolve();
  #openCalls = 0;
  #openBytes = 0;
  readonly #clock: CpuClock;
  readonly #clockStartNs: number;
  cpuNs = 0;
  over = false;

  constructor({ run, entry, limits }: Asked, guestLimits: EncodedLimits, clock: CpuClock) {
    this.run = run;
    this.limits = limits;
    this.guestLimits = guestLimits;
    this.budget = new RunBudget(guestLimits.limits);
    this.conduct = new RunMessageLimits(entry, guestLimits.limits);
    this.#clock = clock;
    this.#clockStartNs = clock.lastNs;
  }

  /**
   * CPU time that the run can have used of the counted time: at most its process's since the run
   * began. Half of the counted time applies anyway, although it includes waiting. Otherwise a loop
   * of low priority would live until its wall limit.
   */
  boundCpuNs(countedNs: number): number {
    if (countedNs < SHORT_NS) return countedNs;
    const processNs = this.processNs();
    return Math.min(countedNs, Math.max(processNs, countedNs * WAITING_COUNTS));
  }

  /** CPU time of its process since it began. */
  processNs(): number {
    return this.#clock.readNs() - this.#clockStartNs;
  }

  wallMs(): number {
    return performance.now() - this.startedAtMs;
  }

  /** True if the entry has ended well and no time is left: the watch is about to end the run. */
  isTimeUp(): boolean {
    return this.ending !== undefined && this.wallMs() > this.limits.wallMs - TIME_IS_UP_MS;
  }

  /** Opens a read that blocks the isolate; the promise never rejects. */
  openRead(): { call: number; answer: Promise<string> } {
    const call = this.#nextRead++;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#reads.set(call, resolve);
    return { call, answer: promise };
  }

  /** Its isolate waits for a read, and needs no processor. */
  get isReading(): boolean {
    return this.#reads.size > 0;
  }

  settleRead(call: number, answer: string): void {
    this.#reads.get(call)?.(answer);
    if (this.#reads.delete(call)) this.conduct.dbAnswered();
  }

  /** An isolate that waits for a read answers nothing else: every open read ends with its run. */
  failReads(): void {
    for (const resolve of this.#reads.values()) resolve('ethe run is over');
    this.#reads.clear();
  }

  /**
   * Returns the limit that one more piece of work beside the isolate, of `bytes`, would exceed. The
   * guest counts first, so an honest guest never exceeds it.
   */
  openCallsOver(bytes: number): ExceededLimit | undefined {
    const { maxOpenCalls, maxOpenCallBytes } = this.guestLimits.limits;
    const calls = this.#openCalls + 1;
    if (calls > maxOpenCalls) return { name: 'maxOpenCalls', value: maxOpenCalls, used: calls };
    const used = this.#openBytes + bytes;
    return used > maxOpenCallBytes ? { name: 'maxOpenCallBytes', value: maxOpenCallBytes, used } : undefined;
  }

  /**
   * Does work for the run beside its isolate, one piece at a time, so that its time is that of one
   * thread. The time counts as the run's. Rejects with the work's error. The caller limits the
   * waiting work: `openCallsOver`.
   */
  async workBeside<Result>(bytes: number, work: () => Promise<Result> | undefined): Promise<Result | undefined> {
    this.#openCalls += 1;
    this.#openBytes += bytes;
    const done = this.#lastCall.then(async () => {
      const startedAtMs = performance.now();
      const result = await work();
      this.cpuNs += (performance.now() - startedAtMs) * 1e6;
      return result;
    });
    // The next piece runs even if this one fails.
    this.#lastCall = done.catch(() => undefined);
    return await done.finally(() => {
      this.#openCalls -= 1;
      this.#openBytes -= bytes;
    });
  }

  endGrace(): void {
    clearTimeout(this.grace);
    this.grace = undefined;
    this.isGraceOver = false;
  }

  clearTimers(): void {
    for (const { stop } of this.timers.values()) stop();
    this.timers.clear();
  }

  clearTimer(id: number): void {
    this.timers.get(id)?.stop();
    this.timers.delete(id);
  }

  /** Open work that would keep a Node process alive. */
  openWork(): OpenWork {
    const work: OpenWork = {
      requests: [...this.fetches.values()],
      calls: this.#openCalls + this.conduct.openStoreCalls,
      timers: 0,
      intervals: 0,
    };
    for (const { kind } of this.timers.values()) {
      if (kind === 'interval') work.intervals += 1;
      else if (kind === 'timer') work.timers += 1;
    }
    return work;
  }
}
