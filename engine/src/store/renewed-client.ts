import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import { createBegin } from './transactions.ts';

type Client = postgres.Sql<{ bigint: number }>;

export interface ClientEvents {
  /** A connection was established. */
  onConnected: () => void;
  /** One has ended, or could not be established. */
  onClosed: () => void;
}

/** In which statements under way on a client that was replaced have ended. */
const RETIRE_MS = 30_000;

/** What gives up the connections that a client has now. */
const giveUps = new WeakMap<object, () => () => void>();

/**
 * Where the database has not answered `work` after `silenceMs`, by default LIMITS.databaseSilenceMs, the connections of its client are given
 * up, and what waits on them rejects as when they are lost. To the system one that vanished without a word is there for a quarter of an hour,
 * and work that is done one after the other would wait for it.
 */
export async function inTime<T>(
  sql: Client,
  work: Promise<T>,
  silenceMs: number = LIMITS.databaseSilenceMs,
): Promise<T> {
  const giveUp = giveUps.get(sql)?.();
  const timer = setTimeout(() => giveUp?.(), silenceMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A client that is replaced as soon as one of its connections is lost. postgres.js 3.4.9 uses them again, and what was about to be written
 * goes before the greeting of the next connection, which is never answered; and a `reserve` that failed takes a later connection out of
 * the pool for ever. After a restart of the database a node had none left.
 */
export function createRenewedClient(
  make: (events: ClientEvents) => Client,
  { closeSeconds, onGivenUp }: { closeSeconds: number; onGivenUp?: () => void },
) {
  const all = new Set<Client>();
  let isClosing = false;
  let current = start();
  // It listens by a connection of its own, and again when that is lost.
  const listener = make({ onConnected: () => undefined, onClosed: () => undefined });

  function start(): Client {
    let hasConnected = false;
    const client = make({
      onConnected: () => (hasConnected = true),
      onClosed: () => {
        if (isClosing || client !== current) return;
        current = start();
        setTimeout(() => void end(client), hasConnected ? RETIRE_MS : 0).unref();
      },
    });
    all.add(client);
    return client;
  }

  async function end(client: Client): Promise<void> {
    await client.end({ timeout: closeSeconds });
    all.delete(client);
  }

  const own: Partial<Client> = { listen: listener.listen };
  const sql = new Proxy(current, {
    apply: (_, self, parameters) => Reflect.apply(current, self, parameters) as unknown,
    get: (_, key) => Reflect.get(key in own ? own : current, key) as unknown,
  });
  // Whatever the client has its own of: a transaction is ours.
  Object.assign(own, { begin: createBegin(sql) });
  giveUps.set(sql, () => {
    const client = current;
    return () => {
      if (isClosing || client !== current) return;
      onGivenUp?.();
      current = start();
      void end(client);
    };
  });
  return {
    sql,
    async close() {
      isClosing = true;
      await Promise.all([end(listener), ...[...all].map(end)]);
    },
  };
}
