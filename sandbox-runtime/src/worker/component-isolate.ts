import type { GuestIsolate } from './guest-isolate.ts';
import type { ProcessRun } from './process-run.ts';

/**
 * Bounds for each isolate: ended runs that stay while others go on, and their timers. Beyond them
 * the oldest runs are released.
 */
const MAX_LINGERING = 10_000;
const MAX_LINGERING_TIMERS = 10_000;

/** A warm isolate of the process: its component, its current runs, and the runs with open work. */
export class ComponentIsolate {
  readonly key: string;
  readonly bundleHash: string;
  readonly memoryMb: number;
  readonly guest: GuestIsolate;
  /** The limits it was told last, as text. */
  toldLimits = '';
  /** In flight. */
  readonly runs = new Map<number, ProcessRun>();
  /**
   * Ended, with timers or requests that another run may be waiting for; see RunTracker in the
   * guest.
   */
  readonly #lingering = new Map<number, ProcessRun>();
  /** Timers that these runs left open, counted since timers were last stopped. */
  #lingeringTimers = 0;
  /** Settles when the component is loaded; rejects with why it could not be. */
  ready: Promise<void> = Promise.resolve();
  loaded = false;
  dead = false;
  served = 0;
  heapBytes = 0;
  /** The call that it was executing when the watch looked last. */
  seenCall: object | undefined;

  constructor(key: string, bundleHash: string, memoryMb: number, guest: GuestIsolate) {
    this.key = key;
    this.bundleHash = bundleHash;
    this.memoryMb = memoryMb;
    this.guest = guest;
  }

  find(run: unknown): ProcessRun | undefined {
    return typeof run === 'number' ? (this.runs.get(run) ?? this.#lingering.get(run)) : undefined;
  }

  /**
   * Keeps an ended run while others go on. Answers the ended runs that are released: their open
   * work is waited for no more.
   */
  linger(run: ProcessRun): ProcessRun[] {
    this.runs.delete(run.run);
    this.#lingering.set(run.run, run);
    this.#lingeringTimers += run.timers.size;
    const isIdle = this.runs.size === 0;
    if (isIdle || this.#lingeringTimers > MAX_LINGERING_TIMERS) {
      for (const ended of this.#lingering.values()) ended.clearTimers();
      this.#lingeringTimers = 0;
    }
    const released: ProcessRun[] = [];
    for (const ended of this.#lingering.values()) {
      if (!isIdle && this.#lingering.size <= MAX_LINGERING) break;
      ended.clearTimers();
      this.#lingering.delete(ended.run);
      released.push(ended);
    }
    return released;
  }
}

export interface RunPlace {
  isolate: ComponentIsolate;
  run: ProcessRun;
}

/** `dc_x:4` is revision 4 of component `dc_x`. */
export function componentOf(isolateKey: string): string {
  const colon = isolateKey.lastIndexOf(':');
  return colon < 0 ? isolateKey : isolateKey.slice(0, colon);
}
