import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connectionError } from './connection.ts';

interface Listening {
  unlisten(): Promise<void>;
}

export interface Listener {
  /**
   * Calls `onNotify` with the notifications of the channel, and `onListen` each time that it begins
   * to listen: earlier notifications are lost. Resolves when it first listens.
   */
  listen(channel: string, onNotify: (payload: string) => void, onListen?: () => void): Promise<Listening>;
  stop(): Promise<void>;
}

interface Subscriber {
  channel: string;
  onNotify: (payload: string) => void;
  onListen: () => void;
  onStopped: (error: Error) => void;
}

export interface ListenerOptions {
  open: () => Promise<Connection>;
  /** Interval of pings: a connection that only listens does not notice a dead server. */
  pingMs: number;
  /** Without an answer for so long it is given up. */
  silenceMs: number;
}

const RECONNECT_MS = 500;

/** Listens on a connection of its own, opened for the first subscriber and again after a loss. */
export function createListener(options: ListenerOptions): Listener {
  const connection = new ListeningConnection(options);
  return { listen: (...parameters) => connection.listen(...parameters), stop: () => connection.stop() };
}

class ListeningConnection {
  readonly #options: ListenerOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #current: Connection | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  async listen(channel: string, onNotify: (payload: string) => void, onListen?: () => void): Promise<Listening> {
    const first = Promise.withResolvers<void>();
    const subscriber: Subscriber = {
      channel,
      onNotify,
      onListen: () => {
        onListen?.();
        first.resolve();
      },
      onStopped: first.reject,
    };
    this.#subscribers.add(subscriber);
    // Without a connection, the next one hears it.
    if (this.#current !== undefined) void this.#hear(this.#current, subscriber);
    this.#running ??= this.#run();
    await first.promise;
    // The server still sends notifications of this channel until the connection ends. There are few
    // channels, so that is cheap.
    return { unlisten: async () => void this.#subscribers.delete(subscriber) };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const stopped = connectionError('CONNECTION_ENDED', 'The node is stopping');
    for (const { onStopped } of this.#subscribers) onStopped(stopped);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#hold().catch(() => undefined);
      this.#current = undefined;
      await pause(RECONNECT_MS, signal);
    }
  }

  /** Until the connection is lost. */
  async #hold(): Promise<void> {
    const connection = await this.#options.open();
    const lost = new AbortController();
    connection.onLost = () => lost.abort();
    const over = AbortSignal.any([lost.signal, this.#stopping.signal]);
    this.#current = connection;
    connection.onNotify = (channel, payload) => {
      for (const subscriber of this.#subscribers) if (subscriber.channel === channel) subscriber.onNotify(payload);
    };
    try {
      for (const subscriber of this.#subscribers) await this.#hear(connection, subscriber);
      while (!over.aborted) {
        await connection.ask("select 'listening'", this.#options.silenceMs);
        await pause(this.#options.pingMs, over);
      }
    } finally {
      await connection.close(1);
    }
  }

  async #hear(connection: Connection, { channel, onListen }: Subscriber): Promise<void> {
    const hears = connection.ask(`listen "${channel}"`, this.#options.silenceMs);
    // If the connection is lost, the next one listens.
    await hears.then(onListen, () => undefined);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
