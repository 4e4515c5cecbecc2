import net from 'node:net';
import { codeOf } from './lost-connection.ts';
import { type Client, handlerOf, type PostgresQuery } from './postgres-query.ts';

/**
 * Called when a query is over; `undefined`: it succeeded. True: the callee handles the failure, and
 * the query is not rejected.
 */
export type OnEnd = (error: unknown) => boolean;

export interface OpenOptions {
  timeoutMs: number;
  /** Refuses a server that is read-only. */
  mustWrite: boolean;
  /** Once: it was lost, or retired. */
  onLost: (connection: Connection) => void;
  /** The server answers that it has no room for something: on its disk, in its memory. */
  onFault: (error: unknown) => void;
}

/** Makes a client of postgres.js that has one connection. `socket`: connects, once. */
export type MakeClient = (how: ClientEvents) => Client;

export interface ClientEvents {
  socket: () => Promise<net.Socket>;
  onClosed: () => void;
  onNotify: (channel: string, payload: string) => void;
}

/**
 * One connection to the database: a postgres.js client with one connection, used until that is
 * lost and never again. postgres.js reconnects by itself, and then has three faults. It forgets a
 * waiting `reserve`, leaves queries of a transaction to the next connection, and writes to dead
 * sockets. Here each query settles: with its answer, or when the connection is lost.
 *
 *   opening ── setup answered ──► open ── lost, or retired ──► lost: everything under way is
 *   rejected
 */
export class Connection {
  readonly openedAtMs = performance.now();
  /** Process id of the server's backend. */
  pid = 0;
  /** The last answer. */
  heardAtMs = this.openedAtMs;
  /** The first query under way since. */
  #askedAtMs = 0;
  /** Called for each notification. */
  onNotify: ((channel: string, payload: string) => void) | undefined;
  /** Called when the connection is lost: its holder may be waiting for something else. */
  onLost: ((error: Error) => void) | undefined;
  readonly #client: Client;
  readonly #run: (query: PostgresQuery) => void;
  readonly #underWay = new Set<PostgresQuery>();
  readonly #socket: { current?: net.Socket };
  readonly #options: Pick<OpenOptions, 'onLost' | 'onFault'>;
  #lost: Error | undefined;
  /** A server that stores nothing has answered: the next connection may lead to another one. */
  isReadOnly = false;

  private constructor(client: Client, socket: { current?: net.Socket }, options: OpenOptions) {
    this.#client = client;
    this.#socket = socket;
    this.#options = options;
    this.#run = handlerOf(client);
  }

  /** Rejects with the cause within `timeoutMs`. */
  static async open(make: MakeClient, options: OpenOptions): Promise<Connection> {
    const socket: { current?: net.Socket } = {};
    let opened: Connection | undefined;
    const client = make({
      socket: () => {
        if (socket.current !== undefined)
          return Promise.reject(connectionError('CONNECTION_CLOSED', 'The connection was closed'));
        return connect(client, socket);
      },
      onClosed: () => opened?.retire(connectionError('CONNECTION_CLOSED', 'The connection to the database was closed')),
      onNotify: (channel, payload) => opened?.onNotify?.(channel, payload),
    });
    const connection = new Connection(client, socket, options);
    try {
      await connection.#greet(options);
      opened = connection;
      return connection;
    } catch (error) {
      connection.#end(error as Error);
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  get isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  /** Start of the current wait for an answer; undefined if the connection owes none. */
  get owesSinceMs(): number | undefined {
    return this.isBusy ? Math.max(this.#askedAtMs, this.heardAtMs) : undefined;
  }

  run(query: PostgresQuery, onEnd?: OnEnd): void {
    if (this.#lost !== undefined) {
      query.reject(this.#lost);
      return;
    }
    if (this.#underWay.size === 0) this.#askedAtMs = performance.now();
    this.#underWay.add(query);
    const { resolve, reject } = query;
    const end = () => {
      this.#underWay.delete(query);
      query.resolve = resolve;
      query.reject = reject;
    };
    query.resolve = (result) => {
      end();
      this.heardAtMs = performance.now();
      onEnd?.(undefined);
      resolve(result);
    };
    query.reject = (error) => {
      end();
      if (isServersWord(error)) this.heardAtMs = performance.now();
      this.#note(codeOf(error), error);
      if (onEnd?.(error) !== true) reject(error);
    };
    this.#run(query);
  }

  #note(code: string, error: unknown): void {
    if (code === '25006') this.isReadOnly = true;
    else if (/^(53|58)/.test(code)) this.#options.onFault(error);
  }

  /** For the pool itself: an answer in `timeoutMs`, or the connection is given up. */
  async ask<Row>(statement: string, timeoutMs: number): Promise<Row[]> {
    const query = this.#client.unsafe(statement);
    (query as unknown as PostgresQuery).handler = (asked) => this.run(asked);
    const late = setTimeout(() => {
      this.retire(connectionError('CONNECT_TIMEOUT', `The database has not answered for ${timeoutMs} ms`));
    }, timeoutMs);
    try {
      return (await query) as unknown as Row[];
    } finally {
      clearTimeout(late);
    }
  }

  /** Rejects queries under way and closes the connection without notice to the server. */
  retire(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#end(error);
    this.onLost?.(error);
    this.#options.onLost(this);
  }

  /** Ends it in order, within `seconds`. */
  async close(seconds: number): Promise<void> {
    if (this.#lost !== undefined) return;
    this.#lost = connectionError('CONNECTION_ENDED', 'The connection to the database was closed by this node');
    await this.#client.end({ timeout: seconds });
    this.#settle(this.#lost);
    this.#socket.current?.destroy();
  }

  async #greet({ timeoutMs, mustWrite }: OpenOptions): Promise<void> {
    const [row] = await this.ask<{ pid: number; read_only: boolean }>(
      "select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as read_only",
      timeoutMs,
    );
    this.pid = row?.pid ?? 0;
    if (mustWrite && row?.read_only !== false)
      throw connectionError('CONNECTION_READ_ONLY', `The server at ${this.#client.options.host[0]} is read-only`);
  }

  #end(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#settle(error);
    this.#socket.current?.destroy();
    // Rejects the client's own queue, whose callers no longer wait.
    void this.#client.end({ timeout: 0 });
  }

  #settle(error: Error): void {
    for (const query of this.#underWay) query.reject(error);
    this.#underWay.clear();
  }
}

export function connectionError(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code });
}

/** An SQLSTATE: the server itself says it. */
export function isServersWord(error: unknown): boolean {
  return /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(codeOf(error));
}

/**
 * Replaces the client's own connect. This socket can be destroyed if the server does not answer,
 * and the client does not connect a second time.
 */
function connect({ options }: Client, made: { current?: net.Socket }): Promise<net.Socket> {
  const socket = new net.Socket();
  made.current = socket;
  const [host = 'localhost', port = 5432] = [options.host[0], options.port[0]];
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    // Destroyed while it connects.
    socket.once('close', () => reject(connectionError('CONNECTION_CLOSED', 'The connection was closed')));
    socket.once('connect', () => {
      socket.removeAllListeners();
      // Before the client listens, and after it has stopped: an unhandled error event would end the
      // process.
      socket.on('error', () => undefined);
      // Read for the name that the server's certificate must bear.
      resolve(Object.assign(socket, { host, port }));
    });
    if (options.path) socket.connect(options.path as string);
    else socket.connect(port, host);
  });
}
