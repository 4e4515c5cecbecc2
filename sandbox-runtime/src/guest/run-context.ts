import type { GuestLimits } from '../protocol/guest-limits.ts';

/** What the guest keeps about one run. Several runs of a component interleave in one isolate. */
export interface RunContext {
  readonly run: number;
  readonly dedupe: string;
  over: boolean;
  responded: boolean;
  outputExceeded: boolean;
  bytes: number;
  emits: number;
  logLines: number;
  fetches: number;
  fetchesInFlight: number;
  timers: number;
  reads: number;
  /** Values this run has set, as JSON: it sees its own writes, without asking. */
  readonly written: Map<string, string>;
}

/** Thrown when a run puts out more than its limit. The run ends with OUTPUT_LIMIT even when the component catches it. */
export class OutputLimitError extends RangeError {
  override readonly name = 'OutputLimitError';
}

/**
 * Knows which run the code that is being executed belongs to. Calls through `this` carry their run in a closure. For globals
 * (console, fetch, timers) it is the run that the process named when it entered the isolate, and it is exact while the
 * microtasks of an entry belong to its run: V8 drains them before the entry returns.
 *
 * Where it blurs: two runs await one promise kept at module level (a memoised token). Both go on in the entry that
 * settles it, and what the second does through globals counts for the first. If that one is over, a run that still lives
 * is taken instead, so that nothing is lost; the process lets requests and timers of an ended run live while others run.
 */
export class RunTracker {
  readonly limits: GuestLimits;
  readonly #live = new Map<number, RunContext>();
  #current: RunContext | undefined;

  constructor(limits: GuestLimits) {
    this.limits = limits;
  }

  begin(run: number, dedupe: string): RunContext {
    const context: RunContext = {
      run,
      dedupe,
      over: false,
      responded: false,
      outputExceeded: false,
      bytes: 0,
      emits: 0,
      logLines: 0,
      fetches: 0,
      fetchesInFlight: 0,
      timers: 0,
      reads: 0,
      written: new Map(),
    };
    this.#live.set(run, context);
    this.#current = context;
    return context;
  }

  end(context: RunContext): void {
    context.over = true;
    this.#live.delete(context.run);
  }

  isIdle(): boolean {
    return this.#live.size === 0;
  }

  find(run: number): RunContext | undefined {
    return this.#live.get(run);
  }

  enter(context: RunContext | undefined): void {
    this.#current = context;
  }

  /** Undefined when every run is over. */
  current(): RunContext | undefined {
    if (this.#current !== undefined && !this.#current.over) return this.#current;
    for (const context of this.#live.values()) return context;
    return undefined;
  }

  /** Counts output of a run; throws OutputLimitError over its limit. */
  takeBytes(context: RunContext, bytes: number): void {
    context.bytes += bytes;
    if (context.bytes <= this.limits.maxRunOutputBytes) return;
    this.exceed(
      context,
      `The run put out more than ${this.limits.maxRunOutputBytes} bytes of events, logs and stored values`,
    );
  }

  exceed(context: RunContext, message: string): never {
    context.outputExceeded = true;
    throw new OutputLimitError(message);
  }
}
