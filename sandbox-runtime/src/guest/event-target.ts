import { applyFunction, now, toText } from './intrinsics.ts';
import { codedError, invalidArgument } from './node/errors.ts';
import { giveName } from './node/give-names.ts';
import { asInterface, requireArguments, requireNamed, toDictionary } from './web-idl.ts';

interface EventState {
  type: string;
  bubbles: boolean;
  cancelable: boolean;
  composed: boolean;
  target: GuestEventTarget | null;
  currentTarget: GuestEventTarget | null;
  phase: number;
  dispatching: boolean;
  stopped: boolean;
  stoppedAtOnce: boolean;
  cancelled: boolean;
  passive: boolean;
  initialised: boolean;
}

const NONE = 0;
const AT_TARGET = 2;

let stateOf: (event: GuestEvent) => EventState;

/**
 * `Event` of the DOM standard. Without a tree there is one target: capture and bubbling are kept as
 * flags.
 */
export class GuestEvent {
  static readonly NONE = NONE;
  static readonly CAPTURING_PHASE = 1;
  static readonly AT_TARGET = AT_TARGET;
  static readonly BUBBLING_PHASE = 3;
  readonly #state: EventState;
  readonly #timeStamp = now();

  constructor(type: string, init?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean }) {
    requireNamed(arguments.length, 'type');
    const { bubbles, cancelable, composed } = toDictionary(init);
    this.#state = {
      type: toText(type),
      bubbles: Boolean(bubbles),
      cancelable: Boolean(cancelable),
      composed: Boolean(composed),
      target: null,
      currentTarget: null,
      phase: NONE,
      dispatching: false,
      stopped: false,
      stoppedAtOnce: false,
      cancelled: false,
      passive: false,
      initialised: true,
    };
  }

  static {
    stateOf = (event) => event.#state;
  }

  get type(): string {
    return this.#state.type;
  }
  get target(): GuestEventTarget | null {
    return this.#state.target;
  }
  get srcElement(): GuestEventTarget | null {
    return this.#state.target;
  }
  get currentTarget(): GuestEventTarget | null {
    return this.#state.currentTarget;
  }
  get eventPhase(): number {
    return this.#state.phase;
  }
  get bubbles(): boolean {
    return this.#state.bubbles;
  }
  get cancelable(): boolean {
    return this.#state.cancelable;
  }
  get composed(): boolean {
    return this.#state.composed;
  }
  get defaultPrevented(): boolean {
    return this.#state.cancelled;
  }
  get timeStamp(): number {
    return this.#timeStamp;
  }
  get isTrusted(): boolean {
    return false;
  }
  get cancelBubble(): boolean {
    return this.#state.stopped;
  }
  set cancelBubble(stop: boolean) {
    if (stop) this.#state.stopped = true;
  }
  get returnValue(): boolean {
    return !this.#state.cancelled;
  }
  set returnValue(value: boolean) {
    if (!value) this.preventDefault();
  }

  composedPath(): GuestEventTarget[] {
    const { currentTarget } = this.#state;
    return currentTarget === null ? [] : [currentTarget];
  }

  stopPropagation(): void {
    this.#state.stopped = true;
  }

  stopImmediatePropagation(): void {
    this.#state.stopped = true;
    this.#state.stoppedAtOnce = true;
  }

  preventDefault(): void {
    if (this.#state.cancelable && !this.#state.passive) this.#state.cancelled = true;
  }

  initEvent(type: string, bubbles = false, cancelable = false): void {
    requireArguments(1, arguments.length, 'initEvent');
    const state = this.#state;
    if (state.dispatching) return;
    Object.assign(state, { type: toText(type), bubbles, cancelable, target: null });
    Object.assign(state, { stopped: false, stoppedAtOnce: false, cancelled: false });
  }
}
asInterface(GuestEvent, 'Event');
for (const name of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'] as const)
  Object.defineProperty(GuestEvent.prototype, name, { value: GuestEvent[name], enumerable: true });

export class GuestCustomEvent extends GuestEvent {
  #detail: unknown;

  constructor(type: string, init?: { detail?: unknown; bubbles?: boolean; cancelable?: boolean; composed?: boolean }) {
    requireNamed(arguments.length, 'type');
    super(type, init);
    this.#detail = init?.detail ?? null;
  }

  get detail(): unknown {
    return this.#detail;
  }

  initCustomEvent(type: string, bubbles = false, cancelable = false, detail: unknown = null): void {
    requireArguments(1, arguments.length, 'initCustomEvent');
    if (stateOf(this).dispatching) return;
    this.initEvent(type, bubbles, cancelable);
    this.#detail = detail;
  }
}
asInterface(GuestCustomEvent, 'CustomEvent');

type Callback = ((event: GuestEvent) => unknown) | { handleEvent(event: GuestEvent): unknown };

interface Listener {
  type: string;
  callback: Callback;
  capture: boolean;
  once: boolean;
  passive: boolean;
  removed: boolean;
}

interface ListenOptions {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  signal?: GuestEventTarget & { readonly aborted: boolean };
}

export class GuestEventTarget {
  #listeners: Listener[] = [];

  addEventListener(type: string, callback: Callback | null, options?: boolean | ListenOptions): void {
    requireNamed(arguments.length, 'type', 'listener');
    const { capture, once, passive, signal } = readOptions(options);
    const name = toText(type);
    if (signal !== undefined && !(signal instanceof GuestEventTarget))
      throw invalidArgument('options.signal', 'an instance of AbortSignal', signal);
    if (!isCallback(callback) || signal?.aborted === true || this.#find(name, callback, capture) !== undefined) return;
    const listener: Listener = { type: name, callback, capture, once, passive, removed: false };
    this.#listeners.push(listener);
    signal?.addEventListener('abort', () => this.#remove(listener), { once: true });
  }

  removeEventListener(type: string, callback: Callback | null, options?: boolean | ListenOptions): void {
    requireNamed(arguments.length, 'type', 'listener');
    if (!isCallback(callback)) return;
    const listener = this.#find(toText(type), callback, readOptions(options).capture);
    if (listener !== undefined) this.#remove(listener);
  }

  dispatchEvent(event: GuestEvent): boolean {
    requireNamed(arguments.length, 'event');
    if (!(event instanceof GuestEvent)) throw invalidArgument('event', 'an instance of Event', event);
    const state = stateOf(event);
    if (state.dispatching)
      throw codedError('ERR_EVENT_RECURSION', `The event "${state.type}" is already being dispatched`);
    Object.assign(state, { dispatching: true, target: this, currentTarget: this, phase: AT_TARGET });
    // Those that listen to the way down come first, also at the target.
    for (const capture of [true, false]) if (!state.stopped) this.#call(event, state, capture);
    Object.assign(state, {
      dispatching: false,
      currentTarget: null,
      phase: NONE,
      stopped: false,
      stoppedAtOnce: false,
    });
    return !state.cancelled;
  }

  #call(event: GuestEvent, state: EventState, capture: boolean): void {
    // Those that are added meanwhile are not called.
    const listeners = this.#listeners.slice();
    for (const listener of listeners) {
      if (state.stoppedAtOnce) return;
      if (listener.removed || listener.type !== state.type || listener.capture !== capture) continue;
      if (listener.once) this.#remove(listener);
      state.passive = listener.passive;
      callListener(this, listener.callback, event);
      state.passive = false;
    }
  }

  #find(type: string, callback: Callback, capture: boolean): Listener | undefined {
    return this.#listeners.find(
      (other) => other.type === type && other.callback === callback && other.capture === capture,
    );
  }

  #remove(listener: Listener): void {
    listener.removed = true;
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}
asInterface(GuestEventTarget, 'EventTarget');

function isCallback(callback: unknown): callback is Callback {
  if (callback === null || callback === undefined) return false;
  if (typeof callback === 'function' || typeof callback === 'object') return true;
  throw invalidArgument('listener', 'an instance of EventListener', callback);
}

function readOptions(options: unknown): Required<Omit<ListenOptions, 'signal'>> & Pick<ListenOptions, 'signal'> {
  if ((typeof options !== 'object' && typeof options !== 'function') || options === null)
    return { capture: Boolean(options), once: false, passive: false };
  const { capture, once, passive, signal } = options as ListenOptions;
  const read = { capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive) };
  return signal === undefined ? read : { ...read, signal };
}

function callListener(target: GuestEventTarget, callback: Callback, event: GuestEvent): void {
  try {
    if (typeof callback === 'function') return void applyFunction(callback, target, [event]);
    const { handleEvent } = callback;
    if (typeof handleEvent !== 'function') throw new TypeError('The listener has no method handleEvent');
    applyFunction(handleEvent, callback, [event]);
  } catch (error) {
    // The other listeners are still called. As in Node, no code can catch the error: here it ends
    // the run.
    setTimeout(() => {
      throw error;
    });
  }
}

/**
 * Defines a property such as `onabort`. It holds one listener, which keeps its place among the
 * others. `name`: the event; `whenSet`: called with the target when a listener is set.
 */
export function defineHandler(
  target: { prototype: object },
  name: string,
  whenSet: (target: GuestEventTarget) => void = () => undefined,
): void {
  const handlers = new WeakMap<GuestEventTarget, { handler: unknown }>();
  const accessors = {
    get(this: GuestEventTarget): unknown {
      return handlers.get(this)?.handler ?? null;
    },
    set(this: GuestEventTarget, handler: unknown) {
      const value = typeof handler === 'function' || (typeof handler === 'object' && handler !== null) ? handler : null;
      const held = handlers.get(this);
      if (held !== undefined) held.handler = value;
      else if (value !== null) {
        const slot = { handler: value as unknown };
        handlers.set(this, slot);
        this.addEventListener(name, (event) => {
          if (typeof slot.handler === 'function') applyFunction(slot.handler as () => unknown, this, [event]);
        });
      }
      whenSet(this);
    },
    enumerable: true,
    configurable: true,
  };
  giveName(accessors.get, `get on${name}`);
  giveName(accessors.set, `set on${name}`);
  Object.defineProperty(target.prototype, `on${name}`, accessors);
}
