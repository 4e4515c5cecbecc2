import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type HostileServer, residentBytes } from './hostile-server.ts';

/**
 * Largest growth of the server during a flood: young heap, socket buffers, and load from other test
 * files. Attacks send, or would unpack to, far more.
 */
const MAX_GROWTH_BYTES = 256 * 1024 * 1024;
const SAMPLE_MS = 20;
const DEFAULT_TIMEOUT_MS = 10_000;

export interface Exchange {
  /** Everything that was received. */
  text: string;
  /** Statuses of the answers in it, in order. */
  statuses: number[];
  /** The server closed the connection, in order or not; false where the time was over first. */
  closed: boolean;
}

/** A connection to the server; errors on it are an outcome like any other. */
export async function open(server: HostileServer): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  // A server that cuts an attack off resets the connection.
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => void socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Resolves when the connection is over, reset or not. */
export function whenClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/**
 * Sends bytes as they are and collects what comes back until the server closes, `until` says
 * enough, or the time is over.
 */
export async function exchange(
  server: HostileServer,
  bytes: string | Buffer,
  options: { timeoutMs?: number; until?: (text: string) => boolean } = {},
): Promise<Exchange> {
  const socket = await open(server);
  let text = '';
  const outcome = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      if (options.until?.(text) !== true) return;
      clearTimeout(timer);
      resolve(false);
    });
  });
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const closed = await outcome;
  socket.destroy();
  return { text, statuses: statusesOf(text), closed };
}

/** Also of an answer that follows another's body without a line break. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/**
 * Expects that the server's memory never grows by more than the bound. Default: MAX_GROWTH_BYTES.
 */
export async function withinMemory<T>(
  server: HostileServer,
  attack: () => Promise<T>,
  growthBytes = MAX_GROWTH_BYTES,
): Promise<T> {
  const before = residentBytes(server.pid);
  let most = before;
  let over = false;
  const watch = (async () => {
    while (!over) {
      most = Math.max(most, residentBytes(server.pid));
      await sleep(SAMPLE_MS);
    }
  })();
  try {
    return await attack();
  } finally {
    over = true;
    await watch;
    expect(most - before).toBeLessThan(growthBytes);
  }
}
