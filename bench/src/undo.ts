import { killProcesses, listProcessTree } from './system/process-tree.ts';

/** Stops everything that was started, last in first out, also after a failure. */
export interface Undo {
  /** `stop` must be idempotent. */
  push(stop: () => Promise<void> | void): void;
  run(): Promise<void>;
}

const SIGNAL_EXIT_CODE = 130;

/**
 * Also runs on Ctrl-C, SIGTERM and the end of the terminal. Processes that are left at exit are
 * killed.
 */
export function createUndo(): Undo {
  const stops: (() => Promise<void> | void)[] = [];

  async function run(): Promise<void> {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
      try {
        await stop();
      } catch (error) {
        // The others must still be ended, and what could not be stopped is killed at exit.
        console.error('could not stop a part of the bench:', error);
      }
    }
  }

  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A second Ctrl-C does not wait.
      if (interrupted) process.exit(SIGNAL_EXIT_CODE);
      interrupted = true;
      void run().finally(() => process.exit(SIGNAL_EXIT_CODE));
    });
  }
  process.once('exit', () => {
    killProcesses(listProcessTree(process.pid).filter((info) => info.pid !== process.pid));
  });
  return { push: (stop) => void stops.push(stop), run };
}
