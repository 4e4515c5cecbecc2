import { interrupted } from '../api/client.ts';
import { bundleFiles } from '../bundle/bundle-files.ts';
import { CliError } from '../cli-error.ts';
import { readText } from '../props/read-props.ts';
import { watchFiles } from './watch-files.ts';

export interface KeepDeployed {
  /** Absolute. */
  file: string;
  /** Sends the code; throws a CliError where it is refused, and what ran before goes on running. */
  deploy(code: string): Promise<void>;
  /** The code could not be put together or was refused. */
  onBroken(error: CliError): void;
  signal: AbortSignal;
}

/**
 * Deploys a component, and again whenever a file of it is saved with other content, one deployment after the other, until the
 * signal aborts: then throws `interrupted`. Code that is broken is told, and the next save is waited for; so is what else goes
 * wrong once a version runs. What goes wrong before, no save would correct.
 */
export async function keepDeployed({ file, deploy, onBroken, signal }: KeepDeployed): Promise<never> {
  let isChanged = true;
  let wake = () => {};
  const watched = watchFiles(() => {
    isChanged = true;
    wake();
  });
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let runs = false;
  let last: string | undefined;

  async function deployOnce(): Promise<void> {
    const code = await readCode(file, watched.follow);
    // An editor may touch a file without changing it.
    if (code === last) return;
    last = code;
    await deploy(code);
    runs = true;
  }

  try {
    // Before anything is read, so that no save goes by unseen.
    watched.follow([file], false);
    for (;;) {
      const change = new Promise<void>((resolve) => (wake = resolve));
      if (!isChanged) await Promise.race([change, aborted]);
      if (signal.aborted) throw interrupted();
      isChanged = false;
      try {
        await deployOnce();
      } catch (error) {
        if (!(error instanceof CliError) || !isCorrectable(error, runs)) throw error;
        // Saved again as it is, it is tried again.
        if (error.exit !== 'component') last = undefined;
        onBroken(error);
      }
    }
  } finally {
    watched.stop();
  }
}

/** Follows every file that it is made of; where it cannot be put together, all that it was looked for in. */
async function readCode(file: string, follow: (files: Iterable<string>, isWhole: boolean) => void): Promise<string> {
  const imported = new Set([file]);
  try {
    const { code, files } = await bundleFiles(file, (found) => imported.add(found));
    follow(files, true);
    return code ?? (await readText(file));
  } catch (error) {
    follow(imported, false);
    throw error;
  }
}

function isCorrectable({ exit }: CliError, runs: boolean): boolean {
  return exit === 'component' || (runs && (exit === 'failure' || exit === 'usage' || exit === 'unreachable'));
}
