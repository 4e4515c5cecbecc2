import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHE_FOLDERS } from './packages/package-cache.ts';

/** Throws away what was used longest ago until the cache has at most `maxBytes`. A build that misses a file fetches it again. */
export async function trimCache(cacheDir: string, maxBytes: number): Promise<void> {
  const listed = await Promise.all(CACHE_FOLDERS.map((folder) => listFiles(join(cacheDir, folder))));
  const files = listed.flat().toSorted((a, b) => b.usedAtMs - a.usedAtMs);
  let total = 0;
  for (const { path, bytes } of files) {
    total += bytes;
    if (total > maxBytes) await rm(path, { force: true });
  }
}

interface CachedFile {
  path: string;
  bytes: number;
  usedAtMs: number;
}

async function listFiles(dir: string): Promise<CachedFile[]> {
  const found = await Promise.all(
    (await readdir(dir)).map(async (name) => {
      const path = join(dir, name);
      // Gone meanwhile: another build or another node trims as well.
      const info = await stat(path).catch(() => undefined);
      return info === undefined ? [] : [{ path, bytes: info.size, usedAtMs: info.mtimeMs }];
    }),
  );
  return found.flat();
}
