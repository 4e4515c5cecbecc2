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
 * Whether there is a cluster. Throws CONFLICT where it is another user's, or would be in a folder
 * that is closed to this one.
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
 * Throws CONFLICT where root would take the data from the user of the node by starting the server,
 * or make it where that user could not use it. The password is the mark of a node: its process
 * makes it and gives it to nobody, while root gives the cluster to one of those it runs the server
 * as.
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
