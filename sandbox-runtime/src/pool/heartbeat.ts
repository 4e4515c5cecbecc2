import type { ReadDelays } from './read-delays.ts';

const BUSY_MS = 1_000;
/** Without a task: dozens of idle processes would wake at once, for nothing. */
const IDLE_MS = 10_000;
const LOST_MS = 5_000;
/**
 * Silence that a process of lowered priority may keep. On a full machine it waits for CPU time; its
 * runs have deadlines anyway.
 */
const HOT_LOST_MS = 30_000;
/**
 * Silence until it has started. It runs no tenant's code by then, so it is slow because the machine
 * is full. Killed for that, it would begin anew each time, and never start.
 */
const START_LOST_MS = 30_000;

/** When a process is to be asked whether it lives, and when it has not answered for too long. */
export class Heartbeat {
  readonly #rests: ReadDelays;
  /** Read pauses at the time when the process began to owe an answer. */
  #mark = 0;
  #lastAskedMs = Number.NEGATIVE_INFINITY;
  /** Since when it owes an answer. Its start asks for the first one. */
  #openSinceMs: number | undefined = performance.now();
  #owed = 0;
  #hasStarted = false;

  constructor(rests: ReadDelays) {
    this.#rests = rests;
  }

  isDue(nowMs: number, isBusy: boolean): boolean {
    return nowMs - this.#lastAskedMs >= (isBusy ? BUSY_MS : IDLE_MS);
  }

  asked(nowMs: number): void {
    this.#lastAskedMs = nowMs;
    this.#owed += 1;
    if (this.#openSinceMs !== undefined) return;
    this.#openSinceMs = nowMs;
    this.#mark = this.#rests.mark();
  }

  /** It has started. */
  began(): void {
    this.#hasStarted = true;
    this.#openSinceMs = undefined;
  }

  /** False for an unexpected answer. */
  answered(): boolean {
    if (this.#owed === 0) return false;
    this.#owed -= 1;
    this.#openSinceMs = undefined;
    return true;
  }

  isLost(nowMs: number, isHot: boolean): boolean {
    if (this.#openSinceMs === undefined) return false;
    const lostMs = this.#hasStarted ? (isHot ? HOT_LOST_MS : LOST_MS) : START_LOST_MS;
    return nowMs - this.#openSinceMs - this.#rests.creditMs(this.#mark) > lostMs;
  }
}
