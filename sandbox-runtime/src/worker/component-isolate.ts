import type { GuestIsolate } from './guest-isolate.ts';
import type { ProcessRun } from './process-run.ts';

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
  readonly lingering = new Map<number, ProcessRun>();
  /** Timers that these runs left open, counted since timers were last stopped. */
  lingeringTimers = 0;
  /** Settles when the component is loaded; rejects with why it could not be. */
  ready: Promise<void> = Promise.resolve();
  loaded = false;
  dead = false;
  served = 0;
  heapBytes = 0;

  constructor(key: string, bundleHash: string, memoryMb: number, guest: GuestIsolate) {
    this.key = key;
    this.bundleHash = bundleHash;
    this.memoryMb = memoryMb;
    this.guest = guest;
  }

  find(run: unknown): ProcessRun | undefined {
    return typeof run === 'number' ? (this.runs.get(run) ?? this.lingering.get(run)) : undefined;
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
