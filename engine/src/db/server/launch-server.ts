import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError } from '@headwater/shared';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { readPostmaster } from './postmaster-file.ts';
import { asIdentity, type ServerIdentity } from './server-identity.ts';
import type { ServerLog } from './server-log.ts';
import { settingsAsArgs } from './server-settings.ts';

export interface ServerPlan {
  clusterDir: string;
  binaries: PostgresBinaries;
  identity: ServerIdentity;
  settings: Readonly<Record<string, string>>;
  log: ServerLog;
}

export interface LaunchedServer {
  pid: number;
  port: number;
}

export type LaunchOutcome =
  | { kind: 'ready'; server: LaunchedServer }
  /** Another program took the port between our looking and the server's. */
  | { kind: 'port-taken' }
  /** Another server of this folder is there, or seems to be: its file may be half written. */
  | { kind: 'folder-taken' }
  /** Backends of a killed server still hold its shared memory; they end by themselves. */
  | { kind: 'memory-held' };

const POLL_MS = 10;
/** Crash recovery replays at most max_wal_size; a minute is far beyond what that takes. */
const READY_TIMEOUT_MS = 120_000;

/**
 * Starts the server on `port` and waits until it accepts connections. Throws what its log says when
 * it cannot start.
 */
export async function launchServer(plan: ServerPlan, port: number): Promise<LaunchOutcome> {
  const logStart = await plan.log.sizeBytes();
  const { child, end } = await spawnServer(plan, port);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (end.reason !== undefined) return explainExit(await plan.log.tail(logStart), end.reason);
    const found = await readPostmaster(plan.clusterDir);
    if (found?.ready && found.pid === child.pid) return { kind: 'ready', server: { pid: found.pid, port } };
    await sleep(POLL_MS);
  }
  child.kill('SIGQUIT');
  throw cannotStart(`it was not ready after ${READY_TIMEOUT_MS / 1000} s: ${await plan.log.tail(logStart)}`);
}

interface Spawned {
  child: ChildProcess;
  /** `reason` is there once the child has ended. */
  end: { reason?: string };
}

async function spawnServer(plan: ServerPlan, port: number): Promise<Spawned> {
  const args = ['-D', plan.clusterDir, ...settingsAsArgs({ ...plan.settings, port: String(port) })];
  const [command, rest] = asIdentity(plan.identity, plan.binaries.postgres, args);
  const file = await plan.log.openForServer();
  try {
    const child = spawn(command, rest, {
      env: plan.binaries.env,
      cwd: '/',
      stdio: ['ignore', file.fd, file.fd],
      // A session of its own: Ctrl-C in the terminal reaches us alone, and we stop the server after
      // everything else.
      detached: true,
      ...plan.identity.spawnAs,
    });
    // In the turn of the spawn: otherwise the exit of a server that ends at once would come before
    // the listener.
    const end = watchExit(child);
    child.unref();
    return { child, end };
  } finally {
    await file.close();
  }
}

function watchExit(child: ChildProcess): Spawned['end'] {
  const end: Spawned['end'] = {};
  child.once('error', (error) => {
    end.reason = error.message;
  });
  child.once('exit', (code, signal) => {
    end.reason ??= `it ended with ${signal ?? `code ${code}`}`;
  });
  return end;
}

function explainExit(logged: string, reason: string): LaunchOutcome {
  if (/could not bind|could not create any TCP\/IP sockets/.test(logged)) return { kind: 'port-taken' };
  if (
    /lock file "postmaster\.pid" already exists|lock file "postmaster\.pid" is empty|bogus data in lock file/.test(
      logged,
    )
  )
    return { kind: 'folder-taken' };
  if (/pre-existing shared memory block/.test(logged)) return { kind: 'memory-held' };
  throw cannotStart(`${reason}: ${logged}`);
}

function cannotStart(why: string): HeadwaterError {
  return new HeadwaterError('UNAVAILABLE', `The embedded Postgres did not start: ${why}`);
}

/** A port on loopback that nothing listens on now. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('A listening TCP socket has no port');
  return address.port;
}
