import type { Socket } from 'node:net';

/**
 * When a connection was made, in the milliseconds of `performance.now()`. Undefined: it came no
 * further.
 */
export interface ConnectTimes {
  begunMs: number;
  /** Never of a literal address. */
  lookedUpMs?: number;
  connectedMs?: number;
  /** TLS included, where there is any. */
  readyMs?: number;
  /** The address that it leads to; not known of one that a proxy has made. */
  remoteAddress?: string;
}

/** Records the progress of a socket that has begun to connect. */
export function watchConnecting(socket: Socket, times: ConnectTimes): void {
  socket.once('lookup', (error: Error | null) => {
    if (error === null) times.lookedUpMs = performance.now();
  });
  socket.once('connect', () => {
    times.connectedMs = performance.now();
    if (socket.remoteAddress !== undefined) times.remoteAddress = socket.remoteAddress;
  });
}
