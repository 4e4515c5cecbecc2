import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Content of `postmaster.pid` in the data folder. Lines: pid, folder, start, port, socket, address,
 * memory, status.
 */
export interface Postmaster {
  pid: number;
  port: number;
  ready: boolean;
}

const run = promisify(execFile);

/** Undefined while there is no such file or it is not written to its end yet. */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readPidFile(clusterDir);
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' };
}

/** A server writes its file within microseconds of making it. */
const WRITTEN_AFTER_MS = 2_000;

/**
 * Removes a file that names no process: a kill or a power cut came between its making and its
 * writing. Postgres would refuse to start because of it.
 */
export async function removeBrokenPidFile(clusterDir: string): Promise<void> {
  const info = await stat(pidFile(clusterDir)).catch(() => undefined);
  if (info === undefined || Date.now() - info.mtimeMs < WRITTEN_AFTER_MS) return;
  if ((await readPostmaster(clusterDir)) === undefined) await rm(pidFile(clusterDir), { force: true });
}

async function readPidFile(clusterDir: string): Promise<string | undefined> {
  try {
    return await readFile(pidFile(clusterDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const pidFile = (clusterDir: string) => path.join(clusterDir, 'postmaster.pid');

/**
 * Whether `pid` is a live Postgres of this folder. A pid alone proves nothing: after a kill (and
 * above all in a restarted container, where pids begin anew) the number may belong to anything.
 */
export async function isPostmasterAlive(pid: number, clusterDir: string): Promise<boolean> {
  if (!isProcessAlive(pid)) return false;
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'command=']).catch(() => ({ stdout: '' }));
    return stdout.includes('postgres');
  }
  // A killed server that its parent does not collect stays as a zombie, which holds no resources.
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (state === '' || /^[ZX]/.test(state.slice(state.lastIndexOf(')') + 2))) return false;
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  // Not allowed to look: believe the name. The server changes into its data folder when it starts.
  if (cwd === undefined) return state.includes('(postgres)');
  return cwd === (await realpath(clusterDir));
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and is another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Postgres refuses to start while the pid in a stale file belongs to any live process of the same
 * user. It skips that check for its parent's pid, so ours is put there; the rest of the file stays,
 * because Postgres uses it to find out whether a backend of the dead server still has the shared
 * memory.
 */
export async function disarmStalePostmaster(clusterDir: string): Promise<void> {
  const text = await readPidFile(clusterDir);
  if (text === undefined) return;
  const rest = text.slice(text.indexOf('\n'));
  await writeFile(pidFile(clusterDir), `${process.pid}${rest}`);
}
