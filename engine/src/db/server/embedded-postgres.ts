import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../contract/index.ts';
import { attachServer, stopServer, type AttachedServer } from './attach-server.ts';
import { CLUSTER_USER, ensureCluster } from './data-cluster.ts';
import { prepareDataDir } from './data-dir.ts';
import type { ServerPlan } from './launch-server.ts';
import { ownCluster, type Ownership } from './own-cluster.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { findServerIdentity, type ServerIdentity } from './server-identity.ts';
import { createServerLog } from './server-log.ts';
import { SERVER_SETTINGS } from './server-settings.ts';

export interface EmbeddedPostgresOptions {
  /** Made on the first start, mode 0700. Holds the cluster, its password and its log. */
  dataDir: string;
  log: Log;
  /** Postgres settings beside or instead of ours. */
  settings?: Readonly<Record<string, string>>;
  /** As whom to try to run the server. Default: see findServerIdentity. */
  identities?: readonly ServerIdentity[];
}

export interface EmbeddedPostgres {
  /** URL of the maintenance database `postgres`, as superuser; constant until stop(). */
  url: string;
  /** The server ran already, left behind by a process that was killed. */
  adopted: boolean;
  /** Stops the server within about 20 s. Idempotent. */
  stop(): Promise<void>;
}

const RESTORE_RETRY_MS = 1_000;
const ATTACH_RETRY_MS = 200;
const MAX_ATTACH_TRIES = 25;

/**
 * Starts the Postgres that comes with the npm packages, or adopts the one that a killed process
 * left running on the same data. Throws CONFLICT when a live process uses the folder, UNAVAILABLE
 * when the server cannot be run here. A server that dies is started again on the same port while
 * this process lives.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log } = options;
  const dataDir = await prepareDataDir(options.dataDir);
  const binaries = await findPostgresBinaries(dataDir);
  const identity = await findServerIdentity(dataDir, binaries, options.identities);
  const { dir: clusterDir, password } = await ensureCluster(dataDir, binaries, identity);
  const serverLog = createServerLog(path.join(dataDir, 'postgres.log'), (error) => {
    log.warn({ err: error }, 'the log of the embedded Postgres could not be cut');
  });
  const settings = { ...SERVER_SETTINGS, ...options.settings };
  const plan: ServerPlan = { clusterDir, binaries, identity, settings, log: serverLog };
  const urlOf = (port: number) => `postgres://${CLUSTER_USER}:${password}@127.0.0.1:${port}/postgres`;
  try {
    const { server, ownership } = await attachAndOwn(plan, urlOf);
    const { pid, port, adopted } = server;
    log.info({ pid, port, adopted, as: identity.name }, 'embedded Postgres is up');
    const keeper = keepRunning({ plan, server, ownership, url: urlOf(port), log });
    return { url: urlOf(port), adopted, stop: () => keeper.stop() };
  } catch (error) {
    serverLog.stop();
    throw error;
  }
}

/**
 * A server that was killed a moment ago may still look alive: it is found, does not answer, and is
 * gone at the next look.
 */
async function attachAndOwn(
  plan: ServerPlan,
  urlOf: (port: number) => string,
): Promise<{ server: AttachedServer; ownership: Ownership }> {
  for (let tries = 1; ; tries++) {
    const server = await attachServer(plan);
    try {
      return { server, ownership: await ownCluster(urlOf(server.port), plan.clusterDir) };
    } catch (error) {
      if (!server.adopted || !isUnreachable(error) || tries === MAX_ATTACH_TRIES) throw error;
      await sleep(ATTACH_RETRY_MS);
    }
  }
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', '57P03']);

function isUnreachable(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  return code !== undefined && UNREACHABLE.has(code);
}

interface Kept {
  plan: ServerPlan;
  server: AttachedServer;
  ownership: Ownership;
  url: string;
  log: Log;
}

/**
 * Holds the claim on the server; where server or claim are lost, brings both back at the same
 * address.
 */
function keepRunning(kept: Kept): { stop(): Promise<void> } {
  const { plan, url, log } = kept;
  let { server, ownership } = kept;
  let owned = true;
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  // A process that ends without stop(), because a shutdown took too long, takes its server along.
  // There is no time to wait.
  const signalServer = () => {
    if (owned) signalIfAlive(server.pid);
  };
  process.once('exit', signalServer);
  const watching = watch();

  async function watch(): Promise<void> {
    for (;;) {
      await ownership.lost;
      if (stopping.signal.aborted) return;
      owned = false;
      log.error({ pid: server.pid }, 'the embedded Postgres closed our connection; bringing it back');
      if (!(await restore())) return;
    }
  }

  async function restore(): Promise<boolean> {
    while (!stopping.signal.aborted) {
      try {
        server = await attachServer(plan, server.port);
        ownership = await ownCluster(url, plan.clusterDir);
        owned = true;
        log.info({ pid: server.pid }, 'the embedded Postgres is back');
        return true;
      } catch (error) {
        log.error({ err: error }, 'the embedded Postgres is not back yet');
        // Aborted by stop().
        await sleep(RESTORE_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    return false;
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await ownership.release();
    await watching;
    await ownership.release();
    plan.log.stop();
    // Without the claim it may have become another process's.
    if (owned) await stopServer(server.pid, plan.clusterDir);
    process.off('exit', signalServer);
  }

  return { stop: () => (stopped ??= stop()) };
}

function signalIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It has ended already.
  }
}
