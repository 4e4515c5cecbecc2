import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ClientConnections {
  /** A request has come over a connection; it is under way until its response is closed. */
  began(socket: Socket, response: ServerResponse): void;
  /** Ends those on which nothing was ever sent: node does not count them as idle before headersTimeout. */
  endSilent(): void;
}

/** In one turn of the event loop. */
const MAX_ENDS_PER_TURN = 8;

/**
 * Bounds connections. Beyond the bound of all, one on which nothing was ever sent makes room for the next, the oldest first, or else the
 * one that has waited for its next request for longest; where every one has a request under way the next is refused.
 */
export function trackConnections(server: Server, maxConnections: number): ClientConnections {
  const open = new Set<Socket>();
  const endAtPace = createEndPace();
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
    if (open.size >= maxConnections && !makeRoom()) {
      socket.destroy();
      return;
    }
    open.add(socket);
    endAtPace(socket);
    socket.once('close', () => {
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
  };
}

/**
 * What node does when a client has closed its side waits for a turn: connections that are closed together, a thousand of which one
 * client may have, held the thread for 6 to 13 ms in one piece, those with half a request on them for 14 to 50; now for one or two.
 */
function createEndPace(): (socket: Socket) => void {
  const ended: (() => void)[] = [];
  let isScheduled = false;
  const schedule = () => {
    isScheduled = ended.length > 0;
    if (isScheduled) setImmediate(endNext);
  };
  const endNext = () => {
    for (const end of ended.splice(0, MAX_ENDS_PER_TURN)) end();
    schedule();
  };
  return (socket) => {
    const listeners = socket.listeners('end');
    socket.removeAllListeners('end');
    socket.once('end', () => {
      ended.push(() => {
        for (const listener of listeners) listener.call(socket);
      });
      if (!isScheduled) schedule();
    });
  };
}
