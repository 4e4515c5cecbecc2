import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { HeadwaterError, randomToken } from '@headwater/shared';
import { keepSecretFile, syncFolder } from './data-dir.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { asIdentity, giveToServer, type ServerIdentity } from './server-identity.ts';

const run = promisify(execFile);

export const CLUSTER_USER = 'headwater';
const PASSWORD_CHARS = 32;
const STAGING_PREFIX = 'postgres-new-';
/**
 * A staging folder older than this was left by a process that was killed. initdb takes about a
 * second.
 */
const STAGING_MAX_AGE_MS = 10 * 60_000;
const INITDB_TIMEOUT_MS = 120_000;

export interface Cluster {
  dir: string;
  password: string;
}

/**
 * Makes `<dataDir>/postgres` on the first start: in a folder of its own that is renamed when it is
 * complete.
 */
export async function ensureCluster(dataDir: string, binaries: PostgresBinaries, id: ServerIdentity): Promise<Cluster> {
  const dir = path.join(dataDir, 'postgres');
  const passwordFile = path.join(dataDir, 'postgres-password');
  if (existsSync(dir) && !existsSync(passwordFile)) {
    throw new HeadwaterError(
      'UNAVAILABLE',
      `${passwordFile} is missing, so the database in ${dir} cannot be opened. Put it back from a backup.`,
    );
  }
  const password = await keepSecretFile(dataDir, 'postgres-password', () => randomToken(PASSWORD_CHARS));
  await removeOldStaging(dataDir);
  if (!existsSync(dir)) await makeCluster(dataDir, dir, password, binaries, id);
  await giveToServer(id, dir);
  return { dir, password };
}

async function makeCluster(
  dataDir: string,
  dir: string,
  password: string,
  binaries: PostgresBinaries,
  id: ServerIdentity,
): Promise<void> {
  const staging = path.join(dataDir, STAGING_PREFIX + randomToken(8));
  await mkdir(staging, { mode: 0o700 });
  const passwordFile = path.join(staging, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await giveToServer(id, staging);
  const cluster = path.join(staging, 'cluster');
  await runInitdb(cluster, passwordFile, binaries, id);
  try {
    await rename(cluster, dir);
    await syncFolder(dataDir);
  } catch (error) {
    // Another process that started at the same time was first; its cluster has the same password.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function runInitdb(cluster: string, passwordFile: string, binaries: PostgresBinaries, id: ServerIdentity) {
  const [command, args] = asIdentity(id, binaries.initdb, [
    `--pgdata=${cluster}`,
    `--username=${CLUSTER_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  try {
    await run(command, args, { env: binaries.env, cwd: '/', timeout: INITDB_TIMEOUT_MS, ...id.spawnAs });
  } catch (cause) {
    const said = (cause as { stderr?: string }).stderr?.trim() || (cause as Error).message;
    throw new HeadwaterError('UNAVAILABLE', `The embedded Postgres could not make its data folder: ${said}`, { cause });
  }
}

async function removeOldStaging(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(STAGING_PREFIX)) continue;
    const staging = path.join(dataDir, name);
    // Gone in between: its maker is done with it.
    const info = await stat(staging).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > STAGING_MAX_AGE_MS) await rm(staging, { recursive: true, force: true });
  }
}
