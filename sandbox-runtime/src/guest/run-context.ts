import type { TellLoss } from './json-loss.ts';
import type { ExceededLimit } from '@headwater/shared';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import type { EntryName } from '../bridge/messages.ts';
import type { FlowAction } from '../sandbox-types.ts';
import { limitError } from './limit-error.ts';
import { PrivateMap } from './private-map.ts';
import { StoreTurns } from './store-turns.ts';

/** State of one run in the guest. Several runs of a component interleave in one isolate. */
export interface RunContext {
  readonly run: number;
  entry: EntryName;
  dedupe: string;
  readonly limits: GuestLimits;
  over: boolean;
  /**
   * Its entry has ended well. It is over when nothing is open any more that it began: the process
   * knows, and waits for that.
   */
  ended: boolean;
  /** Requests, calls and timers that the process has, as far as a run is held open by them. */
  open: number;
  /** Requests that wait for one of those under way to end. */
  readonly waitingRequests: (() => void)[];
  responded: boolean;
  /**
   * Set once the run has put out too much: it ends with this even when the component catches the
   * error.
   */
  exceeded: ExceededLimit | undefined;
  /** How many groups of `console.group` are open. */
  logGroups: number;
  bytes: number;
  emits: number;
  sends: number;
  /** Calls of `$.send.http` whose stream is being read, and the callback that waits for them. */
  sendsBeingRead: number;
  whenSendsAreRead: (() => void) | undefined;
  /**
   * Last request to `$.flow`. `exits`: last result of `exit`; a step that returns it returns
   * nothing.
   */
  flow: FlowAction | undefined;
  exits: object | undefined;
  /** Warns of values that JSON empties; absent until the run has its log. */
  tellLoss?: TellLoss;
  /** Warnings of names without effect that the run's log has. */
  readonly toldNames: PrivateMap<string, true>;
  logLines: number;
  fetches: number;
  fetchesInFlight: number;
  uploadedBytes: number;
  timers: number;
  reads: number;
  storeCalls: number;
  readonly storeTurns: StoreTurns;
  /** Values this run has set, as JSON: it sees its own writes, without asking. */
  readonly written: PrivateMap<string, string>;
}

/**
 * The form of a component is being filled in: nothing of it runs yet, so there is nothing to emit,
 * to store or to answer.
 */
export function refuseInForm({ entry }: RunContext, call: string): void {
  if (entry === 'transform') throw new Error(`${call} cannot be called by a transform: it only changes a request`);
  if (entry !== 'options' && entry !== 'additional-props') return;
  const what = entry === 'options' ? 'the options of a prop' : 'additionalProps';
  throw new Error(`${call} cannot be called while ${what} are computed: only run, hooks and their methods can`);
}

/**
 * Tracks the run of the code that executes. Calls through `this` hold their run in a closure.
 * Globals (console, fetch, timers) use the run that the process named when it entered the isolate.
 * Microtasks of an entry belong to its run, because V8 drains them before the entry returns, so the
 * named run is the right one.
 *
 * Limitation: two runs may await one module-level promise (a memoised token). Both resume in the
 * entry that settles it, so the second one's global calls count for the first. If the first is
 * over, a live run is used instead, so that no output is lost. The process keeps requests and
 * timers of an ended run while others run.
 */
export class RunTracker {
  readonly #live = new PrivateMap<number, RunContext>();
  /**
   * Undefined until the process has named them, which it does before anything of a component runs.
   */
  knownLimits: GuestLimits | undefined;
  #current: RunContext | undefined;

  /** Those of runs that begin from now on. */
  get limits(): GuestLimits {
    if (this.knownLimits === undefined) throw new Error('The limits are not known yet');
    return this.knownLimits;
  }

  /**
   * A component is loaded for a run, so that run begins twice. Output from loading counts for it.
   */
  begin(run: number, entry: EntryName, dedupe: string): RunContext {
    const context = this.#live.get(run) ?? this.#make(run);
    context.entry = entry;
    context.dedupe = dedupe;
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
    return this.#live.first();
  }

  /**
   * Counts output of a run. Throws LimitError over its limit, and the run ends with that even when
   * it is caught.
   */
  takeBytes(context: RunContext, bytes: number): void {
    context.bytes += bytes;
    const { maxRunOutputBytes } = context.limits;
    if (context.bytes <= maxRunOutputBytes) return;
    this.exceed(context, { name: 'maxRunOutputBytes', value: maxRunOutputBytes, used: context.bytes });
  }

  exceed(context: RunContext, limit: ExceededLimit): never {
    context.exceeded ??= limit;
    throw limitError(limit);
  }

  #make(run: number): RunContext {
    return {
      run,
      entry: 'run',
      dedupe: '',
      limits: this.limits,
      over: false,
      ended: false,
      open: 0,
      waitingRequests: [],
      responded: false,
      logGroups: 0,
      exceeded: undefined,
      bytes: 0,
      emits: 0,
      sends: 0,
      sendsBeingRead: 0,
      whenSendsAreRead: undefined,
      flow: undefined,
      exits: undefined,
      toldNames: new PrivateMap(),
      logLines: 0,
      fetches: 0,
      fetchesInFlight: 0,
      uploadedBytes: 0,
      timers: 0,
      reads: 0,
      storeCalls: 0,
      storeTurns: new StoreTurns(),
      written: new PrivateMap(),
    };
  }
}
