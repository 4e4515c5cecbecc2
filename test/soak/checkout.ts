import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A folder with the project and its `node_modules`, of which nodes can be started. */
export interface Checkout {
  main: string;
  nodeFlags: readonly string[];
  /** Kept between starts, as `hw server start` does: a start takes a quarter of the time. */
  compiled: string;
}

export const OWN_FOLDER = fileURLToPath(new URL('../..', import.meta.url));

/** Rejects where the folder has no such project, or where it is not installed. */
export async function openCheckout(folder: string): Promise<Checkout> {
  const root = path.resolve(folder);
  const main = path.join(root, 'api/src/main.ts');
  for (const file of [main, path.join(root, 'node_modules')]) {
    if (!existsSync(file)) throw new Error(`${root} has no installed checkout of the project: ${file} is missing`);
  }
  const runMain = pathToFileURL(path.join(root, 'cli/src/server/run-main.ts')).href;
  const { NODE_FLAGS } = (await import(runMain)) as { NODE_FLAGS: readonly string[] };
  return { main, nodeFlags: NODE_FLAGS, compiled: path.join(root, 'node_modules/.cache/headwater-compiled') };
}
