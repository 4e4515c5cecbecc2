import { interrupted } from '../api/client.ts';
import { bundleFiles } from '../bundle/bundle-files.ts';
import { CliError } from '../cli-error.ts';
import { readTextFile } from '../props/read-props.ts';
import { type FileWatch, watchFiles } from './watch-files.ts';

export interface KeepDeployed {
  /** Absolute. */
  file: string;
  /** Deploys the code. Throws a CliError if the server refuses; the previous code keeps running. */
  deploy(code: string): Promise<void>;
  /** The code could not be bundled, the server refused it, or the server was unreachable. */
  onBroken(error: CliError): void;
  /** The user took back a broken save, so the saved code is the running code again. */
  onMended(): void;
  signal: AbortSignal;
}

/** A server that starts again is there within seconds. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Each adds folders that the code before did not import from. */
const MAX_READS = 5;

/**
 * Deploys a component, and again whenever a file of it is saved with other content, one deployment
 * after the other, until the signal aborts: then throws `interrupted`. Code that is broken is told,
 * and the next save is waited for; so is what else goes wrong once a version runs, and a server
 * that is away is asked again. What goes wrong before, no save would correct.
 */
export async function keepDeployed(options: KeepDeployed): Promise<never> {
  const { signal } = options;
  let isChanged = true;
  let wake = () => {};
  const again = () => {
    isChanged = true;
    wake();
  };
  const watched = watchFiles(again);
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const deployments = createDeployments(options, watched);
  let pauseMs = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | undefined;
  try {
    // Before anything is read, so that no save goes by unseen.
    watched.follow([options.file], false);
    for (;;) {
      const change = new Promise<void>((resolve) => (wake = resolve));
      if (!isChanged) await Promise.race([change, aborted]);
      if (signal.aborted) throw interrupted();
      isChanged = false;
      clearTimeout(retry);
      if ((await deployments.next()) !== 'unreachable') pauseMs = FIRST_RETRY_MS;
      else {
        retry = setTimeout(again, pauseMs);
        pauseMs = Math.min(pauseMs * 2, MAX_RETRY_MS);
      }
    }
  } finally {
    clearTimeout(retry);
    watched.stop();
  }
}

/** Remembers the last code that was sent and the last error that the user saw. */
function createDeployments({ file, deploy, onBroken, onMended }: KeepDeployed, watched: FileWatch) {
  let runs = false;
  /** Code that was sent last, and the server's refusal, if any. */
  let sent: { code: string; refusal?: CliError } | undefined;
  /** Error that was reported last and is not yet fixed. */
  let told: CliError | undefined;

  async function deployOnce(): Promise<void> {
    const code = await readCode(file, watched);
    if (code === sent?.code) {
      // An editor may touch a file without changing it.
      if (told === sent.refusal) return;
      if (sent.refusal !== undefined) throw sent.refusal;
      told = undefined;
      return onMended();
    }
    sent = { code };
    try {
      await deploy(code);
    } catch (error) {
      // Other than refused, it is tried again when it is saved again as it is.
      sent = error instanceof CliError && error.exit === 'component' ? { code, refusal: error } : undefined;
      throw error;
    }
    runs = true;
    told = undefined;
  }

  return {
    async next(): Promise<'done' | 'broken' | 'unreachable'> {
      try {
        await deployOnce();
        return 'done';
      } catch (error) {
        if (!(error instanceof CliError) || !isCorrectable(error, runs)) throw error;
        const isUnreachable = error.exit === 'unreachable';
        // While it is away it is told once.
        if (!isUnreachable || told?.exit !== 'unreachable') onBroken(error);
        told = error;
        return isUnreachable ? 'unreachable' : 'broken';
      }
    },
  };
}

/**
 * Reads the code and watches every file of it. If bundling fails, watches every file that the
 * bundler looked for.
 */
async function readCode(file: string, watched: FileWatch): Promise<string> {
  for (let reads = 1; ; reads++) {
    const imported = new Set([file]);
    try {
      const { code, files } = await bundleFiles(file, (found) => imported.add(found));
      const isUnseen = watched.follow(files, true);
      // A file may be saved after its folder is read and before it is watched, so read again.
      if (!isUnseen || reads === MAX_READS) return code ?? (await readTextFile(file));
    } catch (error) {
      const isUnseen = watched.follow(imported, false);
      if (!isUnseen || reads === MAX_READS) throw error;
    }
  }
}

function isCorrectable({ exit }: CliError, runs: boolean): boolean {
  return exit === 'component' || (runs && (exit === 'failure' || exit === 'usage' || exit === 'unreachable'));
}
