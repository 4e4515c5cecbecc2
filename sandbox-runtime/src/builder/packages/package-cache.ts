import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PackagesUnavailableError } from './package-error.ts';

/** Folders of the cache. Only `tarballs` outlives the time for which the registry is believed. */
export const CACHE_FOLDERS = ['tarballs', 'packuments', 'trees'] as const;

/**
 * Files that builds of all tenants share. A tarball is found by its checksum and checked when it is
 * read, so that nothing in the cache has to be believed; the registry's lists are kept for a while.
 * A file that is cut short, as after a crash or on a full disk, is as good as none.
 */
export interface PackageCache {
  readTarball(integrity: string): Promise<Buffer | undefined>;
  /**
   * Throws PackagesUnavailableError if the write fails, because the bundling process reads the
   * tarball from here.
   */
  writeTarball(integrity: string, bytes: Buffer): Promise<void>;
  readJson<T>(folder: JsonFolder, key: string, isOfForm: (value: unknown) => value is T): Promise<T | undefined>;
  /** Ignores write errors: the value is computed again next time. */
  writeJson(folder: JsonFolder, key: string, value: unknown): Promise<void>;
  /** Removes the entries that this object wrote. */
  discardWritten(): Promise<void>;
}

type JsonFolder = 'packuments' | 'trees';

export function openPackageCache(dir: string, trustMs: number): PackageCache {
  const tarballPath = (integrity: string): string => join(dir, 'tarballs', `${nameOf(integrity)}.tgz`);
  const written: string[] = [];
  const write = async (path: string, content: Buffer | string): Promise<void> => {
    await writeWhole(path, content);
    written.push(path);
  };
  const jsonPath = (folder: string, key: string): string => join(dir, folder, `${nameOf(key)}.json`);
  return {
    async readTarball(integrity) {
      const path = tarballPath(integrity);
      const bytes = await readIfThere(path);
      // Marks the file as used, so that it is trimmed last. Another process may have just deleted
      // it.
      if (bytes !== undefined) await utimes(path, new Date(), new Date()).catch(() => undefined);
      return bytes;
    },
    async writeTarball(integrity, bytes) {
      await write(tarballPath(integrity), bytes).catch((cause: NodeJS.ErrnoException) => {
        throw new PackagesUnavailableError(`they cannot be stored on the disk of this node (${cause.code})`, { cause });
      });
    },
    async readJson(folder, key, isOfForm) {
      const path = jsonPath(folder, key);
      const age = await stat(path).then(
        // Times of the file system are finer than those of Date.
        ({ mtimeMs }) => Date.now() - Math.floor(mtimeMs),
        () => Number.POSITIVE_INFINITY,
      );
      // A forged process may say that a file is of a year to come, to be believed until then.
      const bytes = age >= 0 && age < trustMs ? await readIfThere(path) : undefined;
      const value = bytes === undefined ? undefined : parse(bytes);
      return isOfForm(value) ? value : undefined;
    },
    writeJson: (folder, key, value) => write(jsonPath(folder, key), JSON.stringify(value)).catch(() => undefined),
    async discardWritten() {
      for (const path of written.splice(0)) await rm(path, { force: true });
    },
  };
}

/** Whether these are the bytes that subresource integrity names. */
export function isIntact(bytes: Buffer, integrity: string): boolean {
  const dash = integrity.indexOf('-');
  const hash = createHash(integrity.slice(0, dash)).update(bytes).digest('base64');
  return hash === integrity.slice(dash + 1);
}

function nameOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  // Not there, or thrown away meanwhile: it is fetched again.
  return readFile(path).catch(() => undefined);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Another build may read or write the same file: it is there as a whole or not at all. */
async function writeWhole(path: string, content: Buffer | string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    // On a full disk what came of it would be in the way of the next.
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
