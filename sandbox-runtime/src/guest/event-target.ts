import { toText } from './intrinsics.ts';

/** A small Event and EventTarget: capture phases and bubbling have no meaning without a tree. */
export class GuestEvent {
  readonly type: string;
  readonly cancelable: boolean;
  readonly timeStamp = Date.now();
  target: GuestEventTarget | null = null;
  defaultPrevented = false;
  stopped = false;

  constructor(type: string, init: { cancelable?: boolean } = {}) {
    this.type = toText(type);
    this.cancelable = init.cancelable === true;
  }

  get currentTarget(): GuestEventTarget | null {
    return this.target;
  }

  preventDefault(): void {
    if (this.cancelable) this.defaultPrevented = true;
  }

  stopPropagation(): void {}

  stopImmediatePropagation(): void {
    this.stopped = true;
  }
}

type Listener = ((event: GuestEvent) => unknown) | { handleEvent(event: GuestEvent): unknown };

interface Registration {
  listener: Listener;
  once: boolean;
}

export class GuestEventTarget {
  readonly #listeners = new Map<string, Registration[]>();

  addEventListener(type: string, listener: Listener | null, options?: boolean | { once?: boolean }): void {
    if (listener === null || listener === undefined) return;
    const registered = this.#listeners.get(type) ?? [];
    if (registered.some((entry) => entry.listener === listener)) return;
    const once = typeof options === 'object' && options?.once === true;
    this.#listeners.set(type, [...registered, { listener, once }]);
  }

  removeEventListener(type: string, listener: Listener | null): void {
    const registered = this.#listeners.get(type);
    if (registered !== undefined) {
      this.#listeners.set(
        type,
        registered.filter((entry) => entry.listener !== listener),
      );
    }
  }

  dispatchEvent(event: GuestEvent): boolean {
    event.target = this;
    const handler = (this as Record<string, unknown>)[`on${event.type}`];
    if (typeof handler === 'function') handler.call(this, event);
    for (const entry of this.#listeners.get(event.type) ?? []) {
      if (event.stopped) break;
      if (entry.once) this.removeEventListener(event.type, entry.listener);
      if (typeof entry.listener === 'function') entry.listener.call(this, event);
      else entry.listener.handleEvent(event);
    }
    return !event.defaultPrevented;
  }
}
