import { AT_ONCE } from '../bridge/messages.ts';
import type { Bridge } from './bridge.ts';
import { applyFunction } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import { invalidArgument } from './node/errors.ts';
import { PrivateMap } from './private-map.ts';
import type { RunContext, RunTracker } from './run-context.ts';

const MAX_DELAY_MS = 2 ** 31 - 1;

interface PendingTimer {
  context: RunContext;
  callback: (...args: unknown[]) => unknown;
  args: unknown[];
  delayMs: number;
  repeats: boolean;
  /** Whether it holds its run open. */
  isRef: boolean;
}

type SetRef = (id: number, isRef: boolean) => void;

/** Result of setTimeout: an object as in Node, because packages call `unref` on it. */
class Timeout {
  readonly #id: number;
  readonly #setRef: SetRef;
  #isRef = true;
  constructor(id: number, setRef: SetRef) {
    this.#id = id;
    this.#setRef = setRef;
  }
  ref(): this {
    return this.#hold(true);
  }
  unref(): this {
    return this.#hold(false);
  }
  hasRef(): boolean {
    return this.#isRef;
  }
  #hold(isRef: boolean): this {
    if (this.#isRef !== isRef) this.#setRef(this.#id, isRef);
    this.#isRef = isRef;
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

class Immediate extends Timeout {}

/** Timers of the runs. The clock is outside; a timer ends with its run. */
export class GuestTimers {
  readonly #bridge: Bridge;
  readonly #runs: RunTracker;
  readonly #pending = new PrivateMap<number, PendingTimer>();
  #nextId = 1;

  constructor(bridge: Bridge, runs: RunTracker) {
    this.#bridge = bridge;
    this.#runs = runs;
  }

  globals(): Record<string, (...args: never[]) => unknown> {
    return {
      setTimeout: (callback: unknown, delay?: unknown, ...args: unknown[]) =>
        this.#set(callback, delayOf(delay), args, false),
      setInterval: (callback: unknown, delay?: unknown, ...args: unknown[]) =>
        this.#set(callback, delayOf(delay), args, true),
      setImmediate: (callback: unknown, ...args: unknown[]) => this.#set(callback, AT_ONCE, args, false),
      clearTimeout: (timer?: unknown) => this.clear(timer),
      clearInterval: (timer?: unknown) => this.clear(timer),
      clearImmediate: (timer?: unknown) => this.clear(timer),
    };
  }

  /** Without a run (while the component loads) the timer is made but never fires. */
  #set(callback: unknown, delayMs: number, args: unknown[], repeats: boolean): Timeout {
    if (typeof callback !== 'function') throw invalidArgument('callback', 'of type function', callback);
    const id = this.#nextId++;
    const context = this.#runs.current();
    const setRef: SetRef = (timer, isRef) => this.#setRef(timer, isRef);
    const timer = delayMs === AT_ONCE ? new Immediate(id, setRef) : new Timeout(id, setRef);
    if (context === undefined) return timer;
    const { maxTimersPerRun } = context.limits;
    if (context.timers >= maxTimersPerRun)
      throw limitError({ name: 'maxTimersPerRun', value: maxTimersPerRun, used: context.timers + 1 });
    context.timers += 1;
    context.open += 1;
    const given = callback as PendingTimer['callback'];
    const pending: PendingTimer = { context, callback: given, args, delayMs, repeats, isRef: true };
    this.#pending.set(id, pending);
    this.#post(id, pending);
    return timer;
  }

  clear(timer: unknown): void {
    if (timer === undefined || timer === null) return;
    const id = Number(timer);
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#forget(id, pending);
    this.#bridge.post({ kind: 'timer-clear', run: pending.context.run, timer: id });
  }

  /** Called when the time has come. What the callback throws is the caller's to report. */
  fire(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (!pending.repeats) this.#forget(id, pending);
    applyFunction(pending.callback, undefined, pending.args);
    if (!pending.repeats || !this.#pending.has(id)) return;
    if (pending.context.over) this.#forget(id, pending);
    else this.#post(id, pending);
  }

  #post(id: number, { context, delayMs, repeats, isRef }: PendingTimer): void {
    const timerKind = !isRef ? 'unref' : repeats ? 'interval' : 'timer';
    this.#bridge.post({ kind: 'timer-set', run: context.run, timer: id, delayMs, timerKind });
  }

  #setRef(id: number, isRef: boolean): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || pending.isRef === isRef) return;
    pending.isRef = isRef;
    pending.context.open += isRef ? 1 : -1;
    this.#bridge.post({ kind: 'timer-ref', run: pending.context.run, timer: id, isRef });
  }

  ownerOf(id: number): RunContext | undefined {
    return this.#pending.get(id)?.context;
  }

  /** Forgets the timers of ended runs once no run lives. */
  dropAll(): void {
    this.#pending.clear();
  }

  #forget(id: number, pending: PendingTimer): void {
    this.#pending.delete(id);
    pending.context.timers -= 1;
    if (pending.isRef) pending.context.open -= 1;
  }
}

function delayOf(delay: unknown): number {
  const ms = Math.trunc(Number(delay));
  return ms >= 1 && ms <= MAX_DELAY_MS ? ms : 1;
}
