import { defineHandler, GuestEvent, GuestEventTarget } from './event-target.ts';
import { asInterface, requireArguments, toDictionary } from './web-idl.ts';

const MAKE = Symbol('make');

class GuestMessageEvent extends GuestEvent {
  readonly #data: unknown;

  constructor(type: string, init?: { data?: unknown }) {
    requireArguments(1, arguments.length, 'MessageEvent');
    super(type, init as object);
    this.#data =
      toDictionary(init, () => new TypeError('The options of a MessageEvent must be an object'))['data'] ?? null;
  }

  get data(): unknown {
    return this.#data;
  }
}
asInterface(GuestMessageEvent, 'MessageEvent');

let entangle: (first: GuestMessagePort, second: GuestMessagePort) => void;

/**
 * One end of a channel within the isolate. Messages wait until the other end listens; ports cannot
 * be transferred.
 */
class GuestMessagePort extends GuestEventTarget {
  declare onmessage: ((event: GuestMessageEvent) => unknown) | null;
  #other: GuestMessagePort | undefined;
  #started = false;
  #waiting: unknown[] = [];

  constructor(token?: unknown) {
    super();
    if (token !== MAKE) throw new TypeError('Illegal constructor');
  }

  static {
    entangle = (first, second) => {
      first.#other = second;
      second.#other = first;
    };
  }

  postMessage(message: unknown, transfer?: unknown[] | { transfer?: unknown[] }): void {
    requireArguments(1, arguments.length, 'postMessage');
    const list = Array.isArray(transfer) ? transfer : transfer?.transfer;
    const copy = structuredClone(message, list === undefined ? undefined : { transfer: list as ArrayBuffer[] });
    if (this.#other !== undefined) this.#other.#receive(copy);
  }

  start(): void {
    this.#started = true;
    for (const message of this.#waiting.splice(0)) this.#deliver(message);
  }

  close(): void {
    const other = this.#other;
    this.#other = undefined;
    if (other !== undefined) other.#other = undefined;
  }

  // Node's ports have these; a port keeps no run from ending.
  ref(): void {}

  unref(): void {}

  #receive(message: unknown): void {
    if (this.#started) this.#deliver(message);
    else this.#waiting.push(message);
  }

  #deliver(message: unknown): void {
    setTimeout(() => this.dispatchEvent(new GuestMessageEvent('message', { data: message })));
  }
}
defineHandler(GuestMessagePort, 'message', (port) => (port as GuestMessagePort).start());
asInterface(GuestMessagePort, 'MessagePort');

class GuestMessageChannel {
  readonly #ports = [new GuestMessagePort(MAKE), new GuestMessagePort(MAKE)] as const;

  constructor() {
    entangle(...this.#ports);
  }

  get port1(): GuestMessagePort {
    return this.#ports[0];
  }

  get port2(): GuestMessagePort {
    return this.#ports[1];
  }
}
asInterface(GuestMessageChannel, 'MessageChannel');

export const MESSAGE_CLASSES = {
  MessageChannel: GuestMessageChannel,
  MessageEvent: GuestMessageEvent,
  MessagePort: GuestMessagePort,
};
