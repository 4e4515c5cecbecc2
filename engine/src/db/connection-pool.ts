import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, connectionError, isServersWord, type MakeClient } from './connection.ts';
import { isConnectionLost } from './lost-connection.ts';
import { POOL_LIMITS, type PoolLimits } from './pool-limits.ts';

export interface PoolOptions {
  /** How to connect, one after the other: to each host of the database. */
  targets: readonly MakeClient[];
  maxConnections: number;
  onAway?: (away: Outage) => void;
  onBack?: (awayMs: number) => void;
  /** The database did not answer, and these connections were given up. */
  onSilent?: (connections: number) => void;
  limits?: Partial<PoolLimits>;
}

/** The server had no room for something. */
export interface Fault {
  error: unknown;
  /** performance.now() */
  atMs: number;
}

export interface Outage {
  error: Error;
  /** performance.now() */
  sinceMs: number;
}

interface Waiter {
  resolve: (connection: Connection) => void;
  reject: (error: Error) => void;
  sinceMs: number;
}

const WATCH_MS = 250;
const RECONNECT_MS = 500;
/**
 * An idle connection older than this is replaced: host names may resolve to other servers by now.
 */
const MAX_AGE_MS = 30 * 60_000;
/**
 * The next connection after one to a server that stores nothing; a server that is read-only for
 * long is not asked again each time.
 */
const READ_ONLY_AGE_MS = 2_000;

/**
 * The connections of a node to its database. Every wait here is bounded in time, whatever the
 * database does:
 *
 *   reachable ── no connection is left and none can be made ──► away ── one is made ──► reachable
 *
 * While the database is away, connection attempts follow each other and work waits for at most
 * `maxAwayWaitMs`. Once it has been away for longer, work is refused at once. If a connection owes
 * an answer for `probeAfterMs`, the pool probes the database. If the probe is silent too, all
 * silent connections are given up.
 */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #limits: PoolLimits;
  readonly #open = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #waiters: Waiter[] = [];
  #connecting = 0;
  #target = 0;
  /** No connection could be made since the last that could; there may be others. */
  #failure: Error | undefined;
  #lostAtMs = 0;
  #away: Outage | undefined;
  #fault: Fault | undefined;
  #isPatient = false;
  #isProbing = false;
  #nextProbeMs = 0;
  #isClosing = false;
  readonly #watching: NodeJS.Timeout;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#limits = { ...POOL_LIMITS, ...options.limits };
    this.#watching = setInterval(() => this.#watch(performance.now()), WATCH_MS).unref();
  }

  /** Undefined while it can be reached. */
  get away(): Outage | undefined {
    return this.#away;
  }

  /** The last one; undefined where there was none. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** The place of the target that is used, or tried next. */
  get target(): number {
    return this.#target % this.#options.targets.length;
  }

  /**
   * Makes work wait without a limit for a database that is away. Only for the start of a node, when
   * no clients wait.
   */
  waitForEver(isPatient: boolean): void {
    this.#isPatient = isPatient;
  }

  /** An idle connection; the caller must `release` it. */
  takeIdle(): Connection | undefined {
    return this.#idle.pop();
  }

  /**
   * Rejects with the cause if there is no connection, within `maxAwayWaitMs` of a database that is
   * away.
   */
  acquire(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return Promise.resolve(idle);
    const nowMs = performance.now();
    if (this.#isClosing) return Promise.reject(connectionError('CONNECTION_ENDED', 'The node is stopping'));
    if (!this.#isPatient && this.#away !== undefined && nowMs - this.#away.sinceMs > this.#limits.maxAwayWaitMs)
      return Promise.reject(awayError(this.#away));
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject, sinceMs: nowMs });
      // The process stays alive while callers wait.
      this.#watching.ref();
      this.#grow();
    });
  }

  /** `error`: what its last query ended with. */
  release(connection: Connection, error?: unknown): void {
    if (connection.isLost) return;
    if (error !== undefined && isConnectionLost(error)) connection.retire(error as Error);
    else if (this.#isClosing || this.#isOutworn(connection)) this.#replace(connection);
    else this.#hand(connection);
  }

  /** One that is not of the pool. */
  openApart(): Promise<Connection> {
    return this.#openOne(() => undefined);
  }

  /** Waits up to `seconds` for queries under way. */
  async close(seconds: number): Promise<void> {
    this.#isClosing = true;
    const ended = connectionError('CONNECTION_ENDED', 'The node is stopping');
    for (const waiter of this.#waiters.splice(0)) waiter.reject(ended);
    const endsAtMs = performance.now() + seconds * 1_000;
    for (const connection of this.#idle.splice(0)) this.#replace(connection);
    while (this.#open.size > 0 && performance.now() < endsAtMs) await sleep(5);
    for (const connection of this.#open) connection.retire(ended);
    clearInterval(this.#watching);
  }

  #hand(connection: Connection): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#idle.push(connection);
    else waiter.resolve(connection);
  }

  #isOutworn({ openedAtMs, isReadOnly }: Connection): boolean {
    const ageMs = performance.now() - openedAtMs;
    return ageMs > MAX_AGE_MS || (isReadOnly && ageMs > READ_ONLY_AGE_MS);
  }

  #replace(connection: Connection): void {
    void connection.close(1).finally(() => {
      this.#open.delete(connection);
      this.#lostAtMs = performance.now();
      this.#grow();
    });
  }

  #grow(): void {
    const { maxConnections } = this.#options;
    const wanted = this.#failure === undefined ? this.#waiters.length : 1;
    while (!this.#isClosing && this.#connecting < wanted && this.#open.size + this.#connecting < maxConnections)
      void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#connecting++;
    try {
      const connection = await this.#openOne((lost) => this.#onLost(lost));
      this.#onConnected(connection);
    } catch (error) {
      this.#onFailed(error as Error);
      // Others, once there are some, are reason to go on with them.
      await sleep(RECONNECT_MS, undefined, { ref: false });
    } finally {
      this.#connecting--;
      if (this.#away !== undefined || this.#waiters.length > 0) this.#grow();
    }
  }

  /** Connects to the host that was reached last or, if that fails, to another one. */
  async #openOne(onLost: (connection: Connection) => void): Promise<Connection> {
    const { targets } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        const target = targets[this.target] as MakeClient;
        // With several servers, only one accepts writes.
        const how = { timeoutMs: this.#limits.connectMs, mustWrite: targets.length > 1 };
        return await Connection.open(target, { ...how, onLost, onFault: (error) => this.#noteFault(error) });
      } catch (error) {
        this.#target++;
        if (tries === targets.length) throw error;
      }
    }
  }

  #onConnected(connection: Connection): void {
    const away = this.#away;
    this.#failure = undefined;
    this.#away = undefined;
    if (away !== undefined) this.#options.onBack?.(performance.now() - away.sinceMs);
    this.#open.add(connection);
    if (this.#isClosing) this.#replace(connection);
    else this.#hand(connection);
  }

  #onFailed(error: Error): void {
    this.#failure = error;
    if (this.#open.size > 0 || this.#isClosing) return;
    if (this.#away === undefined) {
      this.#away = { error, sinceMs: this.#lostAtMs || performance.now() };
      this.#options.onAway?.(this.#away);
    } else this.#away.error = error;
  }

  #onLost(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#lostAtMs = performance.now();
    // Connects even without waiting callers, to know whether the database is away.
    if (this.#open.size === 0 && this.#connecting === 0 && !this.#isClosing) void this.#connect();
    else this.#grow();
  }

  #noteFault(error: unknown): void {
    this.#fault = { error, atMs: performance.now() };
  }

  #watch(nowMs: number): void {
    if (this.#waiters.length === 0) this.#watching.unref();
    this.#refuseLate(nowMs);
    const { probeAfterMs, maxStatementMs } = this.#limits;
    let isSilent = false;
    for (const connection of this.#open) {
      const silentMs = nowMs - (connection.owesSinceMs ?? nowMs);
      if (silentMs > maxStatementMs) connection.retire(silentError(silentMs));
      else if (silentMs > probeAfterMs) isSilent = true;
    }
    if (isSilent && !this.#isProbing && nowMs >= this.#nextProbeMs) void this.#probe(nowMs);
  }

  /** In the order in which they came. */
  #refuseLate(nowMs: number): void {
    if (this.#isPatient) return;
    const { maxAwayWaitMs, maxWaitMs } = this.#limits;
    const away = this.#away;
    const waitMs = away === undefined ? maxWaitMs : maxAwayWaitMs;
    while (this.#waiters[0] !== undefined && nowMs - this.#waiters[0].sinceMs > waitMs) {
      const late = away === undefined ? connectionError('CONNECTION_BUSY', BUSY, this.#failure) : awayError(away);
      this.#waiters.shift()?.reject(late);
    }
  }

  /**
   * Checks whether the server still works on queries that it owes since before `sinceMs`, or never
   * got them.
   */
  async #probe(sinceMs: number): Promise<void> {
    this.#isProbing = true;
    try {
      const connection = await this.openApart();
      const working = await connection.ask<{ pid: number }>(WORKING, this.#limits.connectMs);
      const pids = new Set(working.map(({ pid }) => pid));
      this.#giveUpSilent(sinceMs, ({ pid }) => pids.has(pid));
      await connection.close(1);
    } catch (error) {
      const hasHeard = [...this.#open].some(({ heardAtMs }) => heardAtMs >= sinceMs);
      // An error from the server itself, such as "too many connections", proves that it is alive.
      if (hasHeard || isServersWord(error)) return;
      this.#giveUpSilent(sinceMs, () => false);
      this.#lostAtMs = sinceMs - this.#limits.probeAfterMs;
      this.#onFailed(error as Error);
    } finally {
      this.#isProbing = false;
      this.#nextProbeMs = performance.now() + this.#limits.probeAfterMs;
    }
  }

  #giveUpSilent(sinceMs: number, isWorking: (connection: Connection) => boolean): void {
    const owing = [...this.#open].filter(({ owesSinceMs }) => owesSinceMs !== undefined && owesSinceMs < sinceMs);
    const silent = owing.filter((connection) => !isWorking(connection));
    if (silent.length === 0) return;
    // One that owes nothing is likely to be as dead, and would be found so by the next query.
    silent.push(...this.#idle.filter(({ heardAtMs }) => heardAtMs < sinceMs));
    for (const connection of silent)
      connection.retire(silentError(performance.now() - sinceMs + this.#limits.probeAfterMs));
    this.#options.onSilent?.(silent.length);
  }
}

const WORKING = "select pid from pg_stat_activity where state = 'active'";
const BUSY = 'All connections to the database are in use; none became free in time';

function silentError(silentMs: number): Error {
  return connectionError('CONNECTION_SILENT', `The database has not answered for ${Math.round(silentMs)} ms`);
}

function awayError({ error }: Outage): Error {
  return connectionError('CONNECTION_AWAY', `The database is away: ${error.message}`, error);
}
