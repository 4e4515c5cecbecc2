import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { HeadwaterError } from '@headwater/shared';
import { nameOfUser, rootIdentities } from './server-identity.ts';

/*
 * Finds the owner of an installation's data, for commands beside its node. Postgres runs a cluster
 * only for the owner of its folder. Only the node's user can read the node's other files.
 */

const ROOT = 0;

/**
 * Whether a cluster exists. Throws CONFLICT if it belongs to another user, or its folder is closed
 * to this one.
 */
export async function findCluster(dataDir: string): Promise<boolean> {
  const clusterDir = path.join(path.resolve(dataDir), 'postgres');
  const uid = process.getuid?.();
  // Root sees everything; Windows has no such owners.
  if (uid === undefined || uid === ROOT) return existsSync(clusterDir);
  const seen = look(clusterDir);
  if (seen === 'absent') return false;
  const owner = seen === 'closed' ? nearestOwner(clusterDir) : seen.uid;
  if (owner !== uid) throw await refusal(dataDir, owner);
  return true;
}

/**
 * Throws CONFLICT if root would take the data from the node's user by starting the server, or make
 * it unusable for that user. The owner of the password file is the node's user: the node's process
 * makes that file and never gives it away. Root gives the cluster to one of the users under which
 * it runs the server.
 */
export async function keepFromRoot(dataDir: string): Promise<void> {
  if (process.getuid?.() !== ROOT) return;
  const folder = path.resolve(dataDir);
  const nodeUser = nearestOwner(path.join(folder, 'postgres-password'));
  if (nodeUser !== ROOT) throw await refusal(folder, nodeUser);
  const cluster = look(path.join(folder, 'postgres'));
  if (typeof cluster === 'string' || cluster.uid === ROOT) return;
  const ofRoot = (await rootIdentities()).map(({ owner }) => owner?.uid);
  if (!ofRoot.includes(cluster.uid)) throw await refusal(folder, cluster.uid);
}

function look(file: string): { uid: number } | 'absent' | 'closed' {
  try {
    return { uid: statSync(file).uid };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' ? 'closed' : 'absent';
  }
}

/**
 * Owner of the file, or of the nearest visible parent folder. The file is made there, or that
 * folder is closed to this user.
 */
function nearestOwner(file: string): number {
  const seen = look(file);
  return typeof seen === 'string' ? nearestOwner(path.dirname(file)) : seen.uid;
}

async function refusal(dataDir: string, owner: number): Promise<HeadwaterError> {
  const name = await nameOfUser(owner);
  const who = name === undefined ? `the user with the id ${owner}` : `the user ${name}`;
  const as = name ?? `'#${owner}'`;
  return new HeadwaterError(
    'CONFLICT',
    `The data folder ${path.resolve(dataDir)} is that of ${who}, and nothing in it was changed. Run this as that user: sudo -u ${as}`,
  );
}
