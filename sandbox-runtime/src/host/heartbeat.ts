const BUSY_MS = 1_000;
/** Without a task: dozens of idle processes would wake at once, for nothing. */
const IDLE_MS = 10_000;
const LOST_MS = 5_000;
/** Of a process whose priority was lowered: on a full machine it waits for its turn. Its runs have their deadlines anyway. */
const HOT_LOST_MS = 30_000;

/** When a process is to be asked whether it lives, and when it has not answered for too long. */
export class Heartbeat {
  #lastAskedMs = Number.NEGATIVE_INFINITY;
  /** Since when it owes an answer. Its start asks for the first one. */
  #openSinceMs: number | undefined = performance.now();

  isDue(nowMs: number, isBusy: boolean): boolean {
    return nowMs - this.#lastAskedMs >= (isBusy ? BUSY_MS : IDLE_MS);
  }

  asked(nowMs: number): void {
    this.#lastAskedMs = nowMs;
    this.#openSinceMs ??= nowMs;
  }

  answered(): void {
    this.#openSinceMs = undefined;
  }

  isLost(nowMs: number, isHot: boolean): boolean {
    return nowMs - (this.#openSinceMs ?? nowMs) > (isHot ? HOT_LOST_MS : LOST_MS);
  }
}
