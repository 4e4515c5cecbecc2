import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

export interface FileWatch {
  /** From now on these, absolute paths. Unless `isWhole`, any file beside them counts: it may be one that was missing. */
  follow(files: Iterable<string>, isWhole: boolean): void;
  /** Idempotent. */
  stop(): void;
}

/** An editor writes, renames and touches within a few milliseconds; a build needs about as long. */
const SETTLE_MS = 50;

/**
 * Calls back when files have changed and nothing more has for a moment. Folders are watched, not files: many editors put a
 * new file in the place of the old one, which a watch of the file itself would miss.
 */
export function watchFiles(onChange: () => void): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let followed = new Set<string>();
  let isAll = true;
  let timer: NodeJS.Timeout | undefined;

  function changed(folder: string, name: string | null): void {
    // Some systems do not say which file it was.
    if (isAll && name !== null && !followed.has(path.join(folder, name))) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  }

  function open(folder: string): void {
    const watcher = watch(folder, (_, name) => changed(folder, name));
    // One that is deleted is opened again when a file of it is followed again.
    watcher.on('error', () => close(folder));
    watchers.set(folder, watcher);
  }

  function close(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  return {
    follow(files, isWhole) {
      followed = new Set(files);
      isAll = isWhole;
      const folders = new Set([...followed].map((file) => existingFolder(path.dirname(file))));
      for (const folder of watchers.keys()) if (!folders.has(folder)) close(folder);
      for (const folder of folders) if (!watchers.has(folder)) open(folder);
    },
    stop() {
      clearTimeout(timer);
      for (const folder of watchers.keys()) close(folder);
    },
  };
}

/** The folder, or the nearest above it: there it will be made. */
function existingFolder(folder: string): string {
  let at = folder;
  while (!existsSync(at)) at = path.dirname(at);
  return at;
}
