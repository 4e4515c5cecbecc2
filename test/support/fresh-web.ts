import { execFile } from 'node:child_process';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const BUILT = 'web/dist';
/** Files that the UI is made of. */
const SOURCES = ['web/src', 'web/public', 'web/index.html', 'web/vite.config.ts', 'shared/src/contract', 'client/src'];

/**
 * Browsers of tests are served `web/dist` as it lies. Built anew where a file of the UI has changed
 * since: a test of yesterday's pages says nothing.
 */
export async function freshenWeb(): Promise<void> {
  const builtMs = await newestMs(path.join(BUILT, 'index.html'));
  const changedMs = Math.max(...(await Promise.all(SOURCES.map(newestMs))));
  if (builtMs > changedMs) return;
  // The build goes elsewhere first: another run may read the folder meanwhile, or build as well.
  const fresh = path.resolve(`node_modules/.cache/web-${process.pid}`);
  const options = ['build', 'web', '--logLevel', 'error', '--emptyOutDir', '--outDir', fresh];
  await promisify(execFile)(process.execPath, ['node_modules/vite/bin/vite.js', ...options]).catch((error: unknown) => {
    throw new Error('web/dist is older than its sources and cannot be built: npm run build:web', { cause: error });
  });
  await rm(BUILT, { recursive: true, force: true });
  // The build of another run that was faster is as new.
  await rename(fresh, BUILT).catch(() => rm(fresh, { recursive: true, force: true }));
}

/** When a file, or the newest of a folder, was changed; 0 where there is none. */
async function newestMs(name: string): Promise<number> {
  const found = await stat(name).catch(() => undefined);
  if (found === undefined || found.isFile()) return found?.mtimeMs ?? 0;
  const entries = await readdir(name, { recursive: true, withFileTypes: true });
  // Declarations leave nothing behind in a build; some are generated.
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'));
  const times = await Promise.all(files.map((entry) => stat(path.join(entry.parentPath, entry.name))));
  return times.reduce((newest, { mtimeMs }) => Math.max(newest, mtimeMs), 0);
}
