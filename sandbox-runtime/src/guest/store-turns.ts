/** Calls on data stores that one run has under way: more would only wait outside of the isolate. */
const MAX_READS = 4;

interface Turn {
  isWrite: boolean;
  start: () => void;
}

/**
 * Orders a run's calls on its data stores as they were made. Reads run side by side, and a write
 * runs alone. So a run reads its own writes, even those it did not await.
 */
export class StoreTurns {
  readonly #waiting: Turn[] = [];
  #reading = 0;
  #writing = false;
  /** Writes that wait or are under way. */
  #openWrites = 0;
  #written: (() => void) | undefined;

  async take<Answer>(isWrite: boolean, call: () => Promise<Answer>): Promise<Answer> {
    if (isWrite) this.#openWrites += 1;
    await new Promise<void>((start) => {
      this.#waiting.push({ isWrite, start });
      this.#next();
    });
    try {
      return await call();
    } finally {
      if (isWrite) this.#endWrite();
      else this.#reading -= 1;
      this.#next();
    }
  }

  /**
   * Settles when all started writes have ended, successfully or not. Undefined if there are none.
   */
  writes(): Promise<void> | undefined {
    if (this.#openWrites === 0) return undefined;
    return new Promise((resolve) => {
      this.#written = resolve;
    });
  }

  #endWrite(): void {
    this.#writing = false;
    this.#openWrites -= 1;
    if (this.#openWrites === 0) this.#written?.();
  }

  #next(): void {
    for (;;) {
      const turn = this.#waiting[0];
      if (turn === undefined || this.#writing) return;
      if (this.#reading > 0 && (turn.isWrite || this.#reading >= MAX_READS)) return;
      this.#waiting.shift();
      if (turn.isWrite) this.#writing = true;
      else this.#reading += 1;
      turn.start();
    }
  }
}
