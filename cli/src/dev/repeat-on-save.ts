import { interrupted } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import { watchFiles } from './watch-files.ts';

export interface RepeatOnSave {
  /** Tells each file that it reads, as an absolute path. */
  work(onFile: (file: string) => void): Promise<void>;
  /** The next save may mend it. */
  onError(error: CliError): void;
  signal: AbortSignal;
}

/**
 * Does the work, and again whenever one of its files is saved, until the signal aborts: then throws
 * `interrupted`.
 */
export async function repeatOnSave({ work, onError, signal }: RepeatOnSave): Promise<never> {
  let isChanged = true;
  let wake = () => {};
  const watched = watchFiles(() => {
    isChanged = true;
    wake();
  });
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    for (;;) {
      const change = new Promise<void>((resolve) => (wake = resolve));
      if (!isChanged) await Promise.race([change, aborted]);
      if (signal.aborted) throw interrupted();
      isChanged = false;
      const files = new Set<string>();
      // Files are watched from the moment in which they are read, so that no save goes by unseen.
      const onFile = (file: string) => {
        files.add(file);
        watched.follow(files, false);
      };
      const error = await work(onFile).catch((thrown: unknown) => thrown);
      if (error !== undefined && !(error instanceof CliError && error.exit !== 'interrupted')) throw error;
      if (error === undefined) watched.follow(files, true);
      else onError(error);
    }
  } finally {
    watched.stop();
  }
}
