import { existsSync } from 'node:fs';
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { HeadwaterError, randomToken } from '@headwater/shared';

/**
 * Makes the data directory, readable by its owner alone, if it does not exist. An existing
 * directory keeps its mode (it may be a mount): every secret in it is in a file of mode 0600.
 * Returns its absolute path.
 */
export async function prepareDataDir(dataDir: string): Promise<string> {
  const absolute = path.resolve(dataDir);
  try {
    await mkdir(absolute, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'there is a file in its place' : message;
    throw new HeadwaterError('UNAVAILABLE', `The data folder ${absolute} cannot be made: ${reason}`, { cause });
  }
  return absolute;
}

/**
 * The content of `<dataDir>/<name>`, or `make()` written there first. Whole or absent at every
 * moment, mode 0600, on disk when this returns; two processes that start together get the same
 * content.
 */
export async function keepSecretFile(dataDir: string, name: string, make: () => string): Promise<string> {
  const file = path.join(dataDir, name);
  if (!existsSync(file)) {
    const draft = `${file}.${randomToken(8)}`;
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${make()}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // link, unlike rename, leaves the other process's file alone when it was first.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await rm(draft, { force: true });
    await syncFolder(dataDir);
  }
  return (await readFile(file, 'utf8')).trim();
}

/**
 * Another content for a file of keepSecretFile: the old one or the new one at every moment, for the
 * same user and mode.
 */
export async function replaceSecretFile(file: string, content: string): Promise<void> {
  const { uid, gid } = await stat(file);
  const draft = `${file}.${randomToken(8)}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${content}\n`);
    // An operator's root shell must not lock out the user that the node runs as.
    if (process.getuid?.() === 0) await handle.chown(uid, gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncFolder(path.dirname(file));
}

/** Puts the folder's entries (a rename, a new file) on disk. */
export async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
