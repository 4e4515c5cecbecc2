import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders of the cache. Only `tarballs` outlives the time for which the registry is believed. */
export const CACHE_FOLDERS = ['tarballs', 'packuments', 'trees'] as const;

/**
 * Files that builds of all tenants share. A tarball is found by its checksum and checked when it is read, so that nothing in
 * the cache has to be believed; the registry's lists are kept for a while.
 */
export interface PackageCache {
  readTarball(integrity: string): Promise<Buffer | undefined>;
  writeTarball(integrity: string, bytes: Buffer): Promise<void>;
  readJson(folder: 'packuments' | 'trees', key: string): Promise<unknown>;
  writeJson(folder: 'packuments' | 'trees', key: string, value: unknown): Promise<void>;
}

export function openPackageCache(dir: string, trustMs: number): PackageCache {
  const tarballPath = (integrity: string): string => join(dir, 'tarballs', `${nameOf(integrity)}.tgz`);
  const jsonPath = (folder: string, key: string): string => join(dir, folder, `${nameOf(key)}.json`);
  return {
    async readTarball(integrity) {
      const path = tarballPath(integrity);
      const bytes = await readIfThere(path);
      // What was used last is thrown away last. The file may have been thrown away just now.
      if (bytes !== undefined) await utimes(path, new Date(), new Date()).catch(() => undefined);
      return bytes;
    },
    writeTarball: (integrity, bytes) => writeWhole(tarballPath(integrity), bytes),
    async readJson(folder, key) {
      const path = jsonPath(folder, key);
      const age = await stat(path).then(
        // Times of the file system are finer than those of Date.
        ({ mtimeMs }) => Date.now() - Math.floor(mtimeMs),
        () => Number.POSITIVE_INFINITY,
      );
      // A forged process may say that a file is of a year to come, to be believed until then.
      const bytes = age >= 0 && age < trustMs ? await readIfThere(path) : undefined;
      return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown);
    },
    writeJson: (folder, key, value) => writeWhole(jsonPath(folder, key), JSON.stringify(value)),
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

/** Another build may read or write the same file: it is there as a whole or not at all. */
async function writeWhole(path: string, content: Buffer | string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
}
