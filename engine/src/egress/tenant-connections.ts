import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { LIMITS } from '@headwater/shared';
import { type Destination, destinationKey, destinationOf } from './client-tls.ts';
import type { ConnectTimes } from './connect-times.ts';
import type { Connector } from './connector.ts';
import type { Egress } from './egress.ts';
import { Client } from './undici.ts';

/**
 * One connection to one destination, made when the first request is dispatched; for one exchange at
 * a time.
 */
export interface Connection {
  client: Dispatcher;
  /** It has served a request before: its server may have closed it meanwhile. */
  isUsed: boolean;
  /** The times of its connection as it is now; undefined before it begins to connect. */
  readonly times: ConnectTimes | undefined;
  /**
   * Called with the number of bytes read from the server, before they are parsed. Set by the holder
   * of the connection.
   */
  onRead: ((bytes: number) => void) | undefined;
  /**
   * `isReusable`: its response has been read to the end. Otherwise it is closed, connected or not.
   * Once.
   */
  release(isReusable: boolean): void;
}

/**
 * Connections of tenants, never shared between them. A tenant that leaves open, fills up or slows
 * down a connection affects only itself; TLS sessions are separate too.
 */
export interface TenantConnections {
  /**
   * An idle connection, or a new one. With `fresh` always a new one, and idle ones to the same
   * origin are closed. A destination is an origin, or an origin with its own TLS options. A tenant
   * has at most `maxOpen`, if the caller uses at most as many: idle ones are closed before there
   * would be more.
   */
  take(tenantId: string, to: string | Destination, maxOpen: number, fresh?: 'fresh'): Connection;
  /** Closes every connection, with the requests on them. Idempotent. */
  stop(): Promise<void>;
}

/**
 * How long a connection is kept for the next request, and at most, where its server says how long
 * it keeps it.
 */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 15_000;

interface Tenant {
  connector: Connector;
  open: Set<TenantConnection>;
  /** The one that has waited longest first. */
  idle: Set<TenantConnection>;
}

/** `maxIdle`: of all tenants together; default LIMITS.maxIdleConnections. */
export function createTenantConnections(options: { egress: Egress; maxIdle?: number }): TenantConnections {
  const { egress, maxIdle = LIMITS.maxIdleConnections } = options;
  const tenants = new Map<string, Tenant>();
  const idle = new Set<TenantConnection>();

  function tenantOf(tenantId: string): Tenant {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const made: Tenant = { connector: egress.createConnector({ tenantId }), open: new Set(), idle: new Set() };
    tenants.set(tenantId, made);
    return made;
  }

  function wake(tenant: Tenant, connection: TenantConnection): TenantConnection {
    tenant.idle.delete(connection);
    idle.delete(connection);
    return connection;
  }

  function close(tenantId: string, tenant: Tenant, connection: TenantConnection): void {
    wake(tenant, connection);
    if (!tenant.open.delete(connection)) return;
    if (tenant.open.size === 0) tenants.delete(tenantId);
    void connection.destroy();
  }

  function open(tenantId: string, tenant: Tenant, to: string | Destination): TenantConnection {
    const made: TenantConnection = new TenantConnection(to, tenant.connector, {
      rest(isReusable) {
        if (!isReusable || !tenant.open.has(made)) return close(tenantId, tenant, made);
        tenant.idle.add(made);
        idle.add(made);
        const [oldest] = idle;
        if (idle.size > maxIdle) oldest?.close();
      },
      close: () => close(tenantId, tenant, made),
      isIdle: () => idle.has(made),
    });
    tenant.open.add(made);
    return made;
  }

  return {
    take(tenantId, to, maxOpen, fresh) {
      const tenant = tenantOf(tenantId);
      for (const connection of tenant.idle) {
        if (connection.key !== destinationKey(to)) continue;
        if (fresh === undefined) return wake(tenant, connection);
        connection.close();
      }
      for (const connection of tenant.idle) {
        if (tenant.open.size < maxOpen) break;
        connection.close();
      }
      // The last of them may have taken the tenant along.
      if (tenant.open.size === 0) tenants.set(tenantId, tenant);
      return open(tenantId, tenant, to);
    },
    async stop() {
      const all = [...tenants.values()].flatMap((tenant) => [...tenant.open]);
      tenants.clear();
      idle.clear();
      await Promise.all(all.map((connection) => connection.destroy()));
    },
  };
}

interface Place {
  rest(isReusable: boolean): void;
  close(): void;
  isIdle(): boolean;
}

class TenantConnection implements Connection {
  readonly key: string;
  readonly client: InstanceType<typeof Client>;
  onRead: ((bytes: number) => void) | undefined;
  isUsed = false;
  times: ConnectTimes | undefined;
  readonly #place: Place;
  #stopConnecting: () => void = () => undefined;

  constructor(to: string | Destination, connector: Connector, place: Place) {
    const { origin, tls } = destinationOf(to);
    this.key = destinationKey(to);
    this.#place = place;
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.times = { begunMs: performance.now() };
        const connected = ((error: Error | null, socket: Socket | null) => {
          if (error !== null || socket === null) return callback(error ?? new Error('No socket'), null);
          this.#watch(socket);
          callback(null, socket);
        }) as buildConnector.Callback;
        this.#stopConnecting = connector(target, connected, { times: this.times, tls });
      },
      pipelining: 1,
      // One request a connection at a time: aborting it ends that request alone.
      allowH2: false,
      // The exchange has a timeout for everything together.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      maxHeaderSize: LIMITS.maxFetchResponseHeaderBytes,
    });
    this.client.on('disconnect', () => {
      if (this.#place.isIdle()) this.close();
    });
  }

  /** Parsers report only bodies: without this, a server could send any number of other bytes. */
  #watch(socket: Socket): void {
    let seenBytes = socket.bytesRead;
    socket.on('readable', () => {
      const { bytesRead } = socket;
      this.onRead?.(bytesRead - seenBytes);
      seenBytes = bytesRead;
    });
  }

  release(isReusable: boolean): void {
    this.isUsed = true;
    this.#place.rest(isReusable && this.client.stats.connected);
  }

  close(): void {
    this.#place.close();
  }

  async destroy(): Promise<void> {
    const destroyed = this.client.destroy();
    // A client leaves a socket that still connects to its timeout: a tenant would have more of them
    // than its share.
    this.#stopConnecting();
    await destroyed;
  }
}
