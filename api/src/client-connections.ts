import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionBounds {
  /** Of all clients. */
  maxConnections: number;
  /** Of one address, silent for silentMs. */
  maxSilentConnections: number;
  /** A connection on which nothing has been sent for so long is silent. */
  silentMs: number;
}

export interface ClientConnections {
  /** A request has come over a connection; it is under way until its response is closed. */
  began(socket: Socket, response: ServerResponse): void;
  /** Ends those on which nothing was ever sent: node does not count them as idle before headersTimeout. */
  endSilent(): void;
  stop(): void;
}

/** How often silent connections are looked for, and how many of an address are closed then: each takes the thread some 20 µs. */
const SILENT_CHECK_MS = 100;
const MAX_CLOSED_AT_ONCE = 32;

/**
 * Bounds connections. Beyond the bound of all, one on which nothing was ever sent makes room for the next, the oldest first, or else the
 * one that has waited for its next request for longest; where every one has a request under way the next is refused.
 */
export function trackConnections(server: Server, bounds: ConnectionBounds): ClientConnections {
  const open = new Set<Socket>();
  const silent = createSilentConnections(bounds);
  const underWay = new WeakMap<Socket, number>();
  /** The one that has been idle for longest first. */
  const idle = new Set<Socket>();
  const makeRoom = () => {
    for (const socket of open) {
      if (socket.bytesRead > 0) continue;
      open.delete(socket);
      socket.destroy();
      return true;
    }
    const [oldest] = idle;
    if (oldest === undefined) return false;
    open.delete(oldest);
    idle.delete(oldest);
    oldest.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    if (open.size >= bounds.maxConnections && !makeRoom()) {
      socket.destroy();
      return;
    }
    open.add(socket);
    const forget = silent.add(socket);
    socket.once('close', () => {
      forget();
      open.delete(socket);
      idle.delete(socket);
    });
  });
  return {
    began(socket, response) {
      idle.delete(socket);
      underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
      response.once('close', () => {
        const left = (underWay.get(socket) ?? 1) - 1;
        underWay.set(socket, left);
        if (left === 0 && open.has(socket)) idle.add(socket);
      });
    },
    endSilent() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
    stop: silent.stop,
  };
}

/**
 * Of one address beyond the bound, the oldest silent ones are closed, a few at a time: a thousand that their client closes together hold
 * the thread for 25 ms. What a client has just sent may not have been read yet, so none is silent before silentMs.
 */
function createSilentConnections({ maxSilentConnections, silentMs }: ConnectionBounds) {
  /** At which check each was opened, the oldest first; with those that have spoken since, until there are too many. */
  const byAddress = new Map<string, Map<Socket, number>>();
  /** Not the time: after a stall of the thread much is read that was sent long before. */
  let checks = 0;

  function closeOldest(sockets: Map<Socket, number>): void {
    if (sockets.size <= maxSilentConnections) return;
    for (const socket of sockets.keys()) if (socket.bytesRead > 0) sockets.delete(socket);
    let left = Math.min(sockets.size - maxSilentConnections, MAX_CLOSED_AT_ONCE);
    for (const [socket, openedAt] of sockets) {
      if (left-- <= 0 || checks - openedAt <= silentMs / SILENT_CHECK_MS) return;
      sockets.delete(socket);
      socket.destroy();
    }
  }

  const check = setInterval(() => {
    checks++;
    for (const sockets of byAddress.values()) closeOldest(sockets);
  }, SILENT_CHECK_MS).unref();

  return {
    /** Answers what to call when the connection is closed. */
    add(socket: Socket): () => void {
      const address = socket.remoteAddress ?? '';
      const sockets = byAddress.get(address) ?? new Map<Socket, number>();
      byAddress.set(address, sockets.set(socket, checks));
      return () => {
        sockets.delete(socket);
        if (sockets.size === 0 && byAddress.get(address) === sockets) byAddress.delete(address);
      };
    },
    stop: () => clearInterval(check),
  };
}
