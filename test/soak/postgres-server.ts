import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { overlaps, type Period } from './periods.ts';
import { listProcessTree } from '../../bench/src/system/process-tree.ts';
import { attachServer, stopServer } from '../../engine/src/db/server/attach-server.ts';
import { CLUSTER_USER, ensureCluster } from '../../engine/src/db/server/data-cluster.ts';
import { prepareDataDir } from '../../engine/src/db/server/data-dir.ts';
import { findFreePort, type ServerPlan } from '../../engine/src/db/server/launch-server.ts';
import { findPostgresBinaries } from '../../engine/src/db/server/postgres-binaries.ts';
import { findServerIdentity } from '../../engine/src/db/server/server-identity.ts';
import { createServerLog } from '../../engine/src/db/server/server-log.ts';
import { SERVER_SETTINGS } from '../../engine/src/db/server/server-settings.ts';

/**
 * A Postgres that no node owns: for the nodes it is a server elsewhere, and this process can kill
 * it.
 */
export interface PostgresServer {
  /** Stays the same over restarts. */
  url: string;
  isUp(): boolean;
  /** It did not serve at some time between. */
  wasDown(fromMs: number, toMs: number): boolean;
  /**
   * Kills all of its processes at once, starts it again after `downMs`, and resolves when it
   * serves.
   */
  killAll(downMs: number): Promise<void>;
  /** Opens a connection, runs `work` and closes it. Fails soon where the server is away. */
  withConnection<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/**
 * `fsync` is off: killed processes leave what they wrote with the kernel, and only a power cut
 * takes that. So the soak also runs on a slow disk.
 */
const SETTINGS = { ...SERVER_SETTINGS, fsync: 'off', full_page_writes: 'off', max_connections: '300' };
const CONNECT_TIMEOUT_S = 10;

export async function startPostgresServer(folder: string): Promise<PostgresServer> {
  await mkdir(folder, { recursive: true });
  const dataDir = await prepareDataDir(folder);
  const binaries = await findPostgresBinaries(dataDir);
  const identity = await findServerIdentity(dataDir, binaries);
  const { dir: clusterDir, password } = await ensureCluster(dataDir, binaries, identity);
  // Errors of cutting the log do not concern the soak.
  const log = createServerLog(path.join(dataDir, 'postgres.log'), () => undefined);
  const plan: ServerPlan = { clusterDir, binaries, identity, settings: SETTINGS, log };
  const port = await findFreePort();
  const url = `postgres://${CLUSTER_USER}:${password}@127.0.0.1:${port}/postgres`;
  let server = await attachServer(plan, port);
  const outages: Period[] = [];
  const isUp = () => outages.at(-1)?.toMs !== Infinity;
  let stopped: Promise<void> | undefined;
  return {
    url,
    isUp,
    wasDown: (fromMs, toMs) => overlaps(outages, fromMs, toMs),
    async killAll(downMs) {
      const outage = { fromMs: Date.now(), toMs: Infinity };
      outages.push(outage);
      for (const { pid } of listProcessTree(server.pid)) signal(pid, 'SIGKILL');
      await sleep(downMs);
      if (stopped !== undefined) return;
      server = await attachServer(plan, port);
      outage.toMs = Date.now();
    },
    async withConnection(work) {
      const sql = postgres(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_S, onnotice: () => undefined });
      try {
        return await work(sql);
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
    stop() {
      log.stop();
      stopped ??= stopServer(server.pid, clusterDir);
      return stopped;
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
