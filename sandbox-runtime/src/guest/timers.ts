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

/** How a timer reaches those of its isolate. */
interface TimerOwner {
  setRef(isRef: boolean): void;
  /** Begins its time again, also after it has fired. */
  restart(): void;
  clear(): void;
}

let idOf: (timer: unknown) => number | undefined;

/** Base of Timeout and Immediate. */
class Holding {
  readonly #id: number;
  readonly #owner: TimerOwner;
  #isRef = true;
  constructor(id: number, owner: TimerOwner) {
    this.#id = id;
    this.#owner = owner;
  }
  static {
    idOf = (timer) => (typeof timer === 'object' && timer !== null && #id in timer ? timer.#id : undefined);
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
    if (this.#isRef !== isRef) this.#owner.setRef(isRef);
    this.#isRef = isRef;
    return this;
  }
  [Symbol.dispose](): void {
    this.#owner.clear();
  }
}

/** Result of setTimeout: an object as in Node, because packages call `unref` on it. */
class Timeout extends Holding {
  readonly #owner: TimerOwner;
  constructor(id: number, owner: TimerOwner) {
    super(id, owner);
    this.#owner = owner;
  }
  refresh(): this {
    this.#owner.restart();
    return this;
  }
  close(): this {
    this.#owner.clear();
    return this;
  }
  [Symbol.toPrimitive](): number {
    return idOf(this) as number;
  }
}

class Immediate extends Holding {}

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
  #set(callback: unknown, delayMs: number, args: unknown[], repeats: boolean): Holding {
    if (typeof callback !== 'function') throw invalidArgument('callback', 'of type function', callback);
    const id = this.#nextId++;
    const context = this.#runs.current();
    const given = callback as PendingTimer['callback'];
    const pending = context && { context, callback: given, args, delayMs, repeats, isRef: true };
    const owner: TimerOwner = {
      setRef: (isRef) => this.#setRef(id, isRef),
      restart: () => pending && this.#restart(id, pending),
      clear: () => this.#clear(id),
    };
    const timer = delayMs === AT_ONCE ? new Immediate(id, owner) : new Timeout(id, owner);
    if (pending !== undefined) this.#begin(id, pending);
    return timer;
  }

  #begin(id: number, pending: PendingTimer): void {
    const { context } = pending;
    const { maxTimersPerRun } = context.limits;
    if (context.timers >= maxTimersPerRun)
      throw limitError({ name: 'maxTimersPerRun', value: maxTimersPerRun, used: context.timers + 1 });
    context.timers += 1;
    if (pending.isRef) context.open += 1;
    this.#pending.set(id, pending);
    this.#post(id, pending);
  }

  #restart(id: number, pending: PendingTimer): void {
    if (pending.context.over) return;
    this.#clear(id);
    this.#begin(id, pending);
  }

  clear(timer: unknown): void {
    if (timer === undefined || timer === null) return;
    this.#clear(idOf(timer) ?? Number(timer));
  }

  #clear(id: number): void {
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
