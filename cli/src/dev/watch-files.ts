import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';

export interface FileWatch {
  /**
   * Watches these absolute paths from now on. If `isWhole` is false, any file beside them counts,
   * because it may be one that was missing. Returns true if a folder was not watched before:
   * earlier changes in it went unseen.
   */
  follow(files: Iterable<string>, isWhole: boolean): boolean;
  /** Idempotent. */
  stop(): void;
}

/** An editor writes, renames and touches within a few milliseconds; a build needs about as long. */
const SETTLE_MS = 50;

interface Watched {
  watcher: FSWatcher;
  /** Detects a new folder of the same name: the watcher follows the inode, not the name. */
  inode: number;
}

/**
 * Calls back when files have changed and nothing more has for a moment. Folders are watched, not
 * files: many editors put a new file in the place of the old one, which a watch of the file itself
 * would miss. So are the folders above, up to the one that holds everything: a whole folder may be
 * put in the place of another, by a change of the branch for example.
 */
export function watchFiles(onChange: () => void): FileWatch {
  const watched = new Map<string, Watched>();
  let followed = new Set<string>();
  let isAll = true;
  let timer: NodeJS.Timeout | undefined;

  function changed(folder: string, name: string | null): void {
    // Some systems do not say which file it was.
    if (isAll && name !== null && !followed.has(path.join(folder, name))) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  }

  function open(folder: string, inode: number): void {
    const watcher = watch(folder, (_, name) => changed(folder, name));
    // One that is deleted is opened again when a file of it is followed again.
    watcher.on('error', () => close(folder));
    watched.set(folder, { watcher, inode });
  }

  function close(folder: string): void {
    watched.get(folder)?.watcher.close();
    watched.delete(folder);
  }

  return {
    follow(files, isWhole) {
      const paths = [...files];
      isAll = isWhole;
      const folders = foldersOf(paths);
      followed = new Set([...paths, ...folders]);
      for (const folder of watched.keys()) if (!folders.has(folder)) close(folder);
      let isNew = false;
      for (const folder of folders) {
        const inode = statSync(folder, { throwIfNoEntry: false })?.ino;
        if (inode === undefined || watched.get(folder)?.inode === inode) continue;
        close(folder);
        open(folder, inode);
        isNew = true;
      }
      return isNew;
    },
    stop() {
      clearTimeout(timer);
      for (const folder of watched.keys()) close(folder);
    },
  };
}

/** Those that the files are in, and those between them and the one that holds them all. */
function foldersOf(files: readonly string[]): Set<string> {
  const own = files.map((file) => existingFolder(path.dirname(file)));
  const root = own.reduce(commonFolder, own[0] ?? path.parse(process.cwd()).root);
  const all = new Set<string>([root]);
  for (const folder of own) {
    for (let at = folder; !all.has(at); at = path.dirname(at)) all.add(at);
  }
  return all;
}

function commonFolder(one: string, other: string): string {
  let at = one;
  while (path.relative(at, other).split(path.sep)[0] === '..') at = path.dirname(at);
  return at;
}

/** The folder, or the nearest above it: there it will be made. */
function existingFolder(folder: string): string {
  let at = folder;
  while (!existsSync(at)) at = path.dirname(at);
  return at;
}
