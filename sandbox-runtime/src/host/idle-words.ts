import { FrameError } from '../protocol/frames.ts';

/**
 * Messages about nothing that a process may send before its next task. A process that keeps to the protocol sends a few: aborts of requests
 * that have just been answered, and what runs of its had still to say when this side gave them up.
 */
const MAX_IDLE_WORDS = 20_000;

/** Counts what a process says to no effect: no limit of a run stands against it, and each word costs the node a moment. */
export class IdleWords {
  #count = 0;

  /** The process was given something to speak of. */
  taskBegan(): void {
    this.#count = 0;
  }

  /** Throws FrameError when there were too many. */
  take(): void {
    this.#count += 1;
    if (this.#count > MAX_IDLE_WORDS) throw new FrameError(`More than ${MAX_IDLE_WORDS} messages about nothing`);
  }
}
