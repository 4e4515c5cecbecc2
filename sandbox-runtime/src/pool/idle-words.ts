import { FrameError } from '../bridge/frames.ts';
import type { FromSandbox } from '../bridge/messages.ts';

/**
 * Messages about nothing that a process may send before its next task. A process that keeps to the
 * protocol sends a few: what runs of its had still to say when this side gave them up.
 */
const MAX_IDLE_WORDS = 20_000;

/**
 * Counts messages of a process that have no effect. No limit of a run counts them, and each one
 * costs the node a moment.
 */
export class IdleWords {
  #count = 0;
  /**
   * Requests of all its runs, less the aborts. Each may be aborted once, also when it was refused,
   * is answered, or its run is over: the process cannot know, and `maxFetchesPerRun` stands against
   * it.
   */
  #unaborted = 0;

  /** The process was given something to speak of. */
  taskBegan(): void {
    this.#count = 0;
  }

  /** Throws FrameError when there were too many without effect. */
  heard(kind: FromSandbox['kind'], hadEffect: boolean): void {
    if (kind === 'fetch' && hadEffect) this.#unaborted += 1;
    else if (kind === 'fetch-abort' && this.#unaborted > 0) this.#unaborted -= 1;
    else if (!hadEffect) this.#take();
  }

  #take(): void {
    this.#count += 1;
    if (this.#count > MAX_IDLE_WORDS) throw new FrameError(`More than ${MAX_IDLE_WORDS} messages about nothing`);
  }
}
