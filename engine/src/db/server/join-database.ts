import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { HeadwaterError } from '@headwater/shared';
import { CLUSTER_USER } from './data-cluster.ts';
import { findCluster, keepFromRoot } from './data-owner.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster-file.ts';
import {
  DATABASE_NAME,
  prepareDatabase,
  type PrepareDatabaseOptions,
  type PreparedDatabase,
} from './prepare-database.ts';

/**
 * Opens the database of an existing installation, beside a node that may be using it. A running
 * embedded server is joined and left running; otherwise one is started and stopped again. Throws
 * UNAVAILABLE if there is none, and CONFLICT if it belongs to another user. Root joins any running
 * server.
 */
export async function joinDatabase(options: PrepareDatabaseOptions): Promise<PreparedDatabase> {
  if (options.databaseUrl !== undefined) return prepareDatabase(options);
  const dataDir = path.resolve(options.dataDir);
  const clusterDir = path.join(dataDir, 'postgres');
  if (!(await findCluster(dataDir))) {
    const message = `There is no database in ${dataDir}. Set HEADWATER_DATA_DIR or DATABASE_URL as for the nodes.`;
    throw new HeadwaterError('UNAVAILABLE', message);
  }
  const running = await readPostmaster(clusterDir);
  if (running?.ready !== true || !(await isPostmasterAlive(running.pid, clusterDir))) {
    await keepFromRoot(dataDir);
    return prepareDatabase(options);
  }
  const password = (await readFile(path.join(dataDir, 'postgres-password'), 'utf8')).trim();
  const url = `postgres://${CLUSTER_USER}:${password}@127.0.0.1:${running.port}/${DATABASE_NAME}`;
  return { url, currentUrl: url, embedded: true, stop: () => Promise.resolve() };
}
