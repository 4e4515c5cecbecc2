import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ClientConnections {
  /** A request has come over a connection; it is under way until its response is closed. */
  began(socket: Socket, response: ServerResponse): void;
  /** From now on each answer that is not on its way yet is the last of its connection. */
  closeAfterAnswers(): void;
  /**
   * Ends connections on which nothing has been under way for `idleMs` since closeAfterAnswers, or
   * nothing at all has come for `freshMs`, as this call and the one before saw: all answers were
   * sent, and nothing has come of another request. Call it once a turn of the event loop, after
   * sockets were read. `mayEnd` is asked before each end; answers false if it refused one.
   */
  endIdle(idleMs: number, freshMs: number, mayEnd: () => boolean): boolean;
  /** Sends these bytes as the last ones on each connection whose response has not begun. */
  endUnanswered(answer: (request: IncomingMessage) => string): void;
}

/**
 * A body is slow after this time. Endless bodies must not block new clients, and idle connections
 * must not displace fast senders.
 */
const SLOW_MS = 1_000;
/** In one turn of the event loop. */
const MAX_ENDS_PER_TURN = 8;

/**
 * Limits the number of connections. At the limit, one connection ends for the next. The choice is
 * the first of these that exists:
 * 1. the oldest that has not sent the head of its first request;
 * 2. the body that has been arriving longest, for at least SLOW_MS, unless more than half are idle;
 * 3. the longest idle connection;
 * 4. the body that has been arriving longest.
 * If all requests have arrived and are being answered, the new connection is refused.
 */
export function trackConnections(server: Server, maxConnections: number): ClientConnections {
  const open = new Set<Socket>();
  const endAtPace = createEndPace();
  const underWay = new WeakMap<Socket, number>();
  const answers = new Set<ServerResponse>();
  let closingSinceMs = Infinity;
  /** Without a whole request so far, since when, the oldest first. */
  const fresh: Fresh = new Map();
  /**
   * Bytes read from each connection when it fell idle. The connection that is idle longest comes
   * first.
   */
  const idle: Idle = new Map();
  /**
   * The request that began last on each, the oldest first; those that have arrived whole meanwhile
   * are among them.
   */
  const arriving: Arriving = new Map();
  const forget = (socket: Socket) => [open, fresh, idle, arriving].forEach((those) => those.delete(socket));
  const makeRoom = () => {
    const resting = firstOf(idle.keys());
    // If most connections are idle, a client probably keeps too many, so the longest idle one ends
    // first.
    const first = idle.size > maxConnections / 2 ? resting : longestArriving(arriving, SLOW_MS);
    const oldest = firstOf(fresh.keys()) ?? first ?? resting ?? longestArriving(arriving, 0);
    if (oldest === undefined) return false;
    forget(oldest);
    oldest.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    if (open.size >= maxConnections && !makeRoom()) return void socket.destroy();
    open.add(socket);
    fresh.set(socket, { sinceMs: performance.now(), wasSeen: false });
    endAtPace(socket);
    socket.once('close', () => forget(socket));
  });
  return {
    began(socket, response) {
      fresh.delete(socket);
      idle.delete(socket);
      underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
      answers.add(response);
      if (closingSinceMs < Infinity) response.shouldKeepAlive = false;
      const { req: request } = response;
      // At the end, also where one came over it before.
      arriving.delete(socket);
      arriving.set(socket, { request, sinceMs: performance.now() });
      response.once('close', () => {
        answers.delete(response);
        if (arriving.get(socket)?.request === request) arriving.delete(socket);
        const left = (underWay.get(socket) ?? 1) - 1;
        underWay.set(socket, left);
        if (left === 0 && open.has(socket))
          idle.set(socket, { bytesRead: socket.bytesRead, sinceMs: performance.now(), wasSeen: false });
      });
    },
    closeAfterAnswers() {
      closingSinceMs = performance.now();
      for (const response of answers) if (!response.headersSent) response.shouldKeepAlive = false;
    },
    endIdle(idleMs, freshMs, mayEnd) {
      // Clients with many idle connections use them up meanwhile, each for one last answer. A
      // request that is sent in the moment in which its connection ends is lost.
      const isTime = performance.now() - closingSinceMs >= idleMs;
      return (!isTime || endLongIdle(idle, idleMs, mayEnd)) && endLongIdle(fresh, freshMs, mayEnd);
    },
    endUnanswered(answer) {
      // Pipelined ones behind the first have no socket yet.
      for (const response of answers) if (!response.headersSent) response.socket?.end(answer(response.req));
    },
  };
}

type Arriving = Map<Socket, { request: IncomingMessage; sinceMs: number }>;

interface Rest {
  sinceMs: number;
  /** It had been idle for long enough at the look before. */
  wasSeen: boolean;
}
type Fresh = Map<Socket, Rest>;
type Idle = Map<Socket, Rest & { bytesRead: number }>;

function longestArriving(arriving: Arriving, leastMs: number): Socket | undefined {
  for (const [socket, { request, sinceMs }] of arriving) {
    if (request.complete) arriving.delete(socket);
    else return performance.now() - sinceMs >= leastMs ? socket : undefined;
  }
  return undefined;
}

/**
 * Ends connections on which nothing has come for so long. On a busy machine one turn of the event
 * loop takes longer than that, and a request lies unread in its socket meanwhile: the second look
 * in another turn finds it.
 */
function endLongIdle(rests: Fresh | Idle, idleMs: number, mayEnd: () => boolean): boolean {
  const beforeMs = performance.now() - idleMs;
  for (const [socket, rest] of rests) {
    const read = 'bytesRead' in rest ? rest.bytesRead : 0;
    if (rest.sinceMs > beforeMs || socket.bytesRead !== read) continue;
    if (rest.wasSeen) {
      if (!mayEnd()) return false;
      socket.destroy();
    }
    rest.wasSeen = true;
  }
  return true;
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}

/**
 * Spreads the work that node does when clients close their side. A client can close a thousand
 * connections at once. That held the thread for 6 to 13 ms, and for 14 to 50 with half a request on
 * each; now for one or two.
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
        // Closed meanwhile: node may have given its parser to another connection.
        if (socket.destroyed) return;
        for (const listener of listeners) listener.call(socket);
      });
      if (!isScheduled) schedule();
    });
  };
}
