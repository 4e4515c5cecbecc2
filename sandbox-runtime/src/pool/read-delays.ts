/** Bounds the extra time: a process that writes without end must not get time forever. */
const MAX_CREDIT_MS = 10_000;

/**
 * How long a process was not read, as what its tenant puts out by the megabyte is read at a pace:
 * its answers come as much later, and it is given that time.
 */
export class ReadDelays {
  #totalMs = 0;

  add(ms: number): void {
    this.#totalMs += ms;
  }

  /** This moment, to count from. */
  mark(): number {
    return this.#totalMs;
  }

  creditMs(mark: number): number {
    return Math.min(MAX_CREDIT_MS, this.#totalMs - mark);
  }
}
