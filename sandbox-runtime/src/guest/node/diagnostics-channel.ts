import { invalidArgument } from './errors.ts';

type Subscriber = (message: unknown, name: string | symbol) => void;
type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

class Channel {
  readonly name: string | symbol;
  readonly #subscribers = new Set<Subscriber>();

  constructor(name: string | symbol) {
    this.name = name;
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0;
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
  }

  unsubscribe(subscriber: Subscriber): boolean {
    return this.#subscribers.delete(subscriber);
  }

  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) subscriber(message, this.name);
  }

  bindStore(): void {}
  unbindStore(): void {}

  runStores(message: unknown, work: AnyFunction, receiver?: unknown, ...args: unknown[]): unknown {
    this.publish(message);
    return work.apply(receiver, args);
  }
}

/**
 * `diagnostics_channel`. Nothing of the platform publishes on any channel; packages do among
 * themselves.
 */
export function makeDiagnosticsChannel(): Record<string, unknown> {
  const channels = new Map<string | symbol, Channel>();
  const channel = (name: string | symbol): Channel => {
    if (typeof name !== 'string' && typeof name !== 'symbol')
      throw invalidArgument('channel', 'one of type string or symbol', name);
    const found = channels.get(name) ?? new Channel(name);
    channels.set(name, found);
    return found;
  };
  return {
    Channel,
    channel,
    hasSubscribers: (name: string | symbol) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name: string | symbol, subscriber: Subscriber) => channel(name).subscribe(subscriber),
    unsubscribe: (name: string | symbol, subscriber: Subscriber) => channel(name).unsubscribe(subscriber),
    tracingChannel: (name: string) => makeTracing(name, channel),
  };
}

function makeTracing(name: string, channel: (name: string) => Channel): Record<string, unknown> {
  const parts = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  const channels = Object.fromEntries(parts.map((part) => [part, channel(`tracing:${name}:${part}`)]));
  const call = (work: AnyFunction, _context?: unknown, receiver?: unknown, ...args: unknown[]): unknown =>
    work.apply(receiver, args);
  return {
    ...channels,
    get hasSubscribers() {
      return Object.values(channels).some((each) => each.hasSubscribers);
    },
    subscribe: () => undefined,
    unsubscribe: () => true,
    traceSync: call,
    tracePromise: call,
    traceCallback: (
      work: AnyFunction,
      _position?: number,
      _context?: unknown,
      receiver?: unknown,
      ...args: unknown[]
    ) => work.apply(receiver, args),
  };
}
