import { randomUUID } from 'node:crypto';
import { lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGiveWay } from '@headwater/shared';
import { CACHE_FOLDERS } from './packages/package-cache.ts';

export interface CacheBounds {
  maxBytes: number;
  maxFiles: number;
  /** How long the registry's lists are valid, in milliseconds. Older ones are useless. */
  trustMs: number;
  /** Ends it, with the reason of the signal. */
  signal?: AbortSignal;
}

/**
 * Looking through a full cache costs more than a small build. So long after the one before has
 * ended,
 */
const TRIM_EVERY_MS = 60_000;
/**
 * or sooner, when builds since the start of the previous trim have downloaded this share of the
 * cache's maximum.
 */
const TRIM_EVERY_SHARE = 1 / 4;

/** Minimum disk space of a file. */
const BLOCK_BYTES = 4096;

interface CachedFile {
  path: string;
  bytes: number;
  usedAtMs: number;
}

/** Trims the cache beside builds, one trim at a time. */
export interface Trims {
  /** Counts bytes that builds have put into the cache. */
  grew(bytes: number): void;
  /**
   * Starts a trim, unless one is running, or the last one is recent and the cache has grown little.
   * No build waits for it or keeps its slot.
   */
  start(): void;
  /** Never rejects. */
  ended(): Promise<void>;
}

/** `log`: told why one could not be done. */
export function createTrims(
  cacheDir: string,
  log: (level: 'warn', message: string, fields: Record<string, unknown>) => void,
  bounds: CacheBounds,
): Trims {
  let last: Promise<void> = Promise.resolve();
  let nextAtMs = 0;
  let isUnderWay = false;
  let grownBytes = 0;
  async function trim(): Promise<void> {
    try {
      await trimCache(cacheDir, bounds);
    } catch (err) {
      if (bounds.signal?.aborted !== true) log('warn', 'the cache of packages could not be trimmed', { err });
    } finally {
      nextAtMs = performance.now() + TRIM_EVERY_MS;
      isUnderWay = false;
    }
  }
  return {
    grew(bytes) {
      grownBytes += bytes;
    },
    start() {
      const isDue = performance.now() >= nextAtMs || grownBytes > bounds.maxBytes * TRIM_EVERY_SHARE;
      if (isUnderWay || !isDue) return;
      isUnderWay = true;
      grownBytes = 0;
      last = trim();
    },
    ended: () => last,
  };
}

/**
 * Removes expired lists, and then the least recently used files, until the cache is within
 * `maxBytes` and `maxFiles`. A build that misses a file fetches it again.
 *
 * Tenants decide how many files exist, and a fetch process may be compromised. So it examines one
 * file at a time, gives way to other work, and keeps at most twice `maxFiles` in memory.
 */
export async function trimCache(cacheDir: string, bounds: CacheBounds): Promise<void> {
  const giveWay = createGiveWay();
  let files: CachedFile[] = [];
  for (const folder of CACHE_FOLDERS) {
    const expiresAfterMs = folder === 'tarballs' ? Number.POSITIVE_INFINITY : bounds.trustMs;
    for await (const { name } of await opendir(join(cacheDir, folder))) {
      await giveWay();
      bounds.signal?.throwIfAborted();
      const file = await look(join(cacheDir, folder, name), bounds.signal);
      if (file === undefined) continue;
      if (Date.now() - file.usedAtMs >= expiresAfterMs) await remove(file.path);
      else files.push(file);
      if (files.length >= 2 * bounds.maxFiles) files = await keepNewest(files, bounds);
    }
  }
  await keepNewest(files, bounds);
}

/**
 * Undefined if it is no file, which only a compromised process causes. Also if it is gone: another
 * build or node trims the same cache.
 */
async function look(path: string, signal: AbortSignal | undefined): Promise<CachedFile | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return undefined;
  if (info.isDirectory()) {
    await remove(path, signal);
    return undefined;
  }
  // Times of the file system are finer than those of Date. One that is yet to come was made up.
  const isForged = Math.floor(info.mtimeMs) > Date.now();
  const bytes = Math.max(1, Math.ceil(info.size / BLOCK_BYTES)) * BLOCK_BYTES;
  return { path, bytes, usedAtMs: isForged ? 0 : info.mtimeMs };
}

async function keepNewest(files: readonly CachedFile[], bounds: CacheBounds): Promise<CachedFile[]> {
  const { maxBytes, maxFiles, signal } = bounds;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  // Sorting takes the thread, and most of the time nothing is to go.
  if (bytes <= maxBytes && files.length <= maxFiles) return [...files];
  const kept: CachedFile[] = [];
  let total = 0;
  for (const file of files.toSorted((a, b) => b.usedAtMs - a.usedAtMs)) {
    signal?.throwIfAborted();
    total += file.bytes;
    if (total <= maxBytes && kept.length < maxFiles) kept.push(file);
    else await remove(file.path, signal);
  }
  return kept;
}

/** Nested directories that are open at a time. Bounds open handles and the length of paths. */
const MAX_OPEN = 8;

/** Skips entries that cannot be deleted, so that they do not block the others. */
async function remove(path: string, signal?: AbortSignal): Promise<void> {
  const trees = [path];
  // The cache never nests this deep. Deeper folders move to a tree of their own, which is removed
  // last.
  const putAside = async (deep: string) => {
    const tree = join(dirname(path), randomUUID());
    await rename(deep, tree);
    trees.push(tree);
  };
  try {
    for (const tree of trees) await removeWhole(tree, { depth: MAX_OPEN, putAside, signal });
  } catch {
    signal?.throwIfAborted();
    // It is gone, or it is in a directory that a forged process closed.
  }
}

interface Removal {
  depth: number;
  putAside: (deep: string) => Promise<void>;
  signal: AbortSignal | undefined;
}

/**
 * One entry at a time. The function of Node that takes whole directories begins with all of them at
 * once.
 */
async function removeWhole(path: string, { depth, putAside, signal }: Removal): Promise<void> {
  const giveWay = createGiveWay();
  const info = await lstat(path);
  if (!info.isDirectory()) return unlink(path);
  if (depth === 0) return putAside(path);
  for await (const { name } of await opendir(path)) {
    await giveWay();
    signal?.throwIfAborted();
    await removeWhole(join(path, name), { depth: depth - 1, putAside, signal });
  }
  await rmdir(path);
}
