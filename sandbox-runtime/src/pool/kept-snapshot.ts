import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire, getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';

/** A file that begins with the snapshot. */
interface SnapshotFile {
  path: string;
  bytes: number;
}

/**
 * The guest as processes are given it: its code, or the snapshot that an earlier start has kept, or
 * that the node's first process has made.
 */
export interface GuestImage {
  code: string;
  /** A file of 1.8 MB that each process is given open: nothing of it passes the node's thread. */
  snapshot: SnapshotFile | undefined;
  /** For later starts of the node. Default: it ends with this one. */
  keep?(snapshot: Uint8Array): Promise<void>;
}

export interface SnapshotStore {
  /** One that an earlier start has kept. */
  kept: SnapshotFile | undefined;
  keep(snapshot: Uint8Array): Promise<void>;
}

const DIGEST_BYTES = 32;
const PREFIX = 'headwater-snapshot-';
/**
 * Snapshots of other guests that are older are removed. A node of another version that starts just
 * now may be about to open its own. A node that runs has it open.
 */
const OTHERS_KEPT_MS = 24 * 3_600_000;

/**
 * Keeps the snapshot of the guest over starts of the node, beside the compile cache: writers of
 * that folder control the executed code anyway. V8 ends a process whose snapshot is of another
 * version or machine, so both are in the name, and a digest follows the content.
 */
export function openSnapshotStore(guestCode: string): SnapshotStore {
  const folder = getCompileCacheDir();
  if (folder === undefined) return { kept: undefined, keep: () => Promise.resolve() };
  const { version } = createRequire(import.meta.url)('isolated-vm/package.json') as { version: string };
  const key = hash('sha256', JSON.stringify([process.version, cachedDataVersionTag(), version, guestCode]));
  const path = join(folder, `${PREFIX}${key}`);
  const keepAlone = async (snapshot: Uint8Array) => {
    await keep(path, snapshot);
    await removeOld(folder);
  };
  return { kept: readKept(path), keep: keepAlone };
}

function readKept(path: string): SnapshotFile | undefined {
  try {
    const content = readFileSync(path);
    const bytes = content.length - DIGEST_BYTES;
    if (bytes <= 0 || !content.subarray(bytes).equals(digestOf(content.subarray(0, bytes)))) return undefined;
    return { path, bytes };
  } catch {
    // Not there yet: the first process makes it.
    return undefined;
  }
}

async function keep(path: string, snapshot: Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, Buffer.concat([snapshot, digestOf(snapshot)]), { mode: 0o600 });
    // Processes that have the old file open go on with that.
    await rename(draft, path);
  } catch {
    // A full disk or a folder that may not be written: the next start makes a snapshot again.
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

/** The one that was just kept is new. */
async function removeOld(folder: string): Promise<void> {
  try {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(folder, name);
      const { mtimeMs } = await stat(path);
      if (Date.now() - mtimeMs > OTHERS_KEPT_MS) await rm(path, { force: true });
    }
  } catch {
    // Another node has removed one meanwhile, or the folder may not be written: the next start
    // looks again.
  }
}

const digestOf = (content: Uint8Array) => hash('sha256', content, 'buffer');
