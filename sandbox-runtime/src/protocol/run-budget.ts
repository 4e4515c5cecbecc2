import type { GuestLimits } from './guest-limits.ts';

/**
 * Counts what one run puts out. The guest keeps the same counts for a clear error at the right line; this one holds where
 * the guest cannot reach it.
 */
export class RunBudget {
  readonly #limits: GuestLimits;
  #bytes = 0;
  #emits = 0;
  #logLines = 0;

  constructor(limits: GuestLimits) {
    this.#limits = limits;
  }

  /** False: over the limit, the run has to end. `bytes` may be UTF-16 units; each of them is at least one byte. */
  takeEmit(bytes: number): boolean {
    this.#emits += 1;
    return bytes <= this.#limits.maxEventBytes && this.#emits <= this.#limits.maxEmitsPerRun && this.takeBytes(bytes);
  }

  takeLogLine(bytes: number): boolean {
    this.#logLines += 1;
    // One more line than the limit: the last one says that lines were dropped.
    return this.#logLines <= this.#limits.maxLogLinesPerRun + 1 && this.takeBytes(bytes);
  }

  takeBytes(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= this.#limits.maxRunOutputBytes;
  }
}
