import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError } from '@headwater/shared';
import { findFreePort, launchServer, type LaunchedServer, type ServerPlan } from './launch-server.ts';
import { disarmStalePostmaster, isPostmasterAlive, readPostmaster, removeBrokenPidFile } from './postmaster-file.ts';

export interface AttachedServer extends LaunchedServer {
  /** It ran already: left by a process of ours that was killed, or another process's own. */
  adopted: boolean;
}

const ATTACH_TIMEOUT_MS = 150_000;
const RETRY_MS = 100;
const POLL_MS = 20;

/**
 * A ready server of the folder: the one that runs, or a new one. With `port` a new one listens
 * there (clients hold its address), else on a free port. States of the folder:
 *
 *   no server ── launch ──► ready
 *   stale file ─ disarm, launch ──► ready
 *   live server ─ wait ──► ready (adopted), or gone ──► no server
 */
export async function attachServer(plan: ServerPlan, port?: number): Promise<AttachedServer> {
  const deadline = Date.now() + ATTACH_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const running = await findRunning(plan.clusterDir);
    if (running !== undefined) {
      if (running.ready) return { pid: running.pid, port: running.port, adopted: true };
      // Starting up, recovering or shutting down.
      await sleep(POLL_MS);
      continue;
    }
    const outcome = await launchServer(plan, port ?? (await findFreePort()));
    if (outcome.kind === 'ready') return { ...outcome.server, adopted: false };
    await sleep(RETRY_MS);
  }
  throw new HeadwaterError(
    'UNAVAILABLE',
    `The embedded Postgres in ${plan.clusterDir} neither starts nor stops; its log is ${plan.clusterDir}.log`,
  );
}

async function findRunning(clusterDir: string) {
  const found = await readPostmaster(clusterDir);
  if (found === undefined) {
    await removeBrokenPidFile(clusterDir);
    return undefined;
  }
  if (await isPostmasterAlive(found.pid, clusterDir)) return found;
  await disarmStalePostmaster(clusterDir);
  return undefined;
}

const FAST_STOP_MS = 20_000;
const IMMEDIATE_STOP_MS = 5_000;

/**
 * Ends the server: SIGINT (drops its clients, writes a checkpoint), then SIGQUIT (recovers at the
 * next start), then SIGKILL. Resolves when it is gone.
 */
export async function stopServer(pid: number, clusterDir: string): Promise<void> {
  const steps = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ] as const;
  for (const [signal, waitMs] of steps) {
    if (!(await signalServer(pid, clusterDir, signal))) return;
    if (await waitUntilGone(pid, clusterDir, waitMs)) return;
  }
  throw new HeadwaterError('INTERNAL', `The embedded Postgres (process ${pid}) cannot be stopped`);
}

async function signalServer(pid: number, clusterDir: string, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isPostmasterAlive(pid, clusterDir))) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function waitUntilGone(pid: number, clusterDir: string, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (!(await isPostmasterAlive(pid, clusterDir))) return true;
    await sleep(POLL_MS);
  }
  return false;
}
