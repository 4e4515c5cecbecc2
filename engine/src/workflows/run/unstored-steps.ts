import type { StepRow } from '../../runs/index.ts';

/** Steps that are done and not durable yet, in their order. */
export interface UnstoredSteps {
  /** Stores the row soon, or with the next write. False: this node has lost the execution. */
  add(row: StepRow): boolean;
  /** Resolves when all that were added are durable. False: the execution is not ours any more. */
  store(): Promise<boolean>;
  /** For the commit that comes now: those that are not durable, once nothing is being written. */
  take(): Promise<readonly StepRow[]>;
  /** Nothing of them is kept. */
  drop(): void;
}

export interface UnstoredStepsOptions {
  /** False: the lease was lost, and nothing was written. */
  commit: (rows: readonly StepRow[]) => Promise<boolean>;
  onStored: (rows: readonly StepRow[]) => void;
}

/**
 * A step that computes long is not to be computed twice because the one after it took as long:
 * after this time steps are stored although nothing waits for it. Executions that end sooner write
 * all of their steps with their end.
 */
const STORE_AFTER_MS = 20;

export function createUnstoredSteps({ commit, onStored }: UnstoredStepsOptions): UnstoredSteps {
  let waiting: StepRow[] = [];
  let isOurs = true;
  let writing = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const rows = [...waiting];
    if (rows.length === 0 || !isOurs) return;
    isOurs = await commit(rows);
    waiting = waiting.slice(rows.length);
    if (isOurs) onStored(rows);
  }

  function startWriting(): Promise<void> {
    stopTimer();
    writing = writing.then(write);
    // The next `store` or `take` gets the error.
    writing.catch(() => undefined);
    return writing;
  }

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    add(row) {
      waiting.push(row);
      timer ??= setTimeout(() => void startWriting(), STORE_AFTER_MS);
      return isOurs;
    },
    async store() {
      await (waiting.length === 0 ? writing : startWriting());
      return isOurs;
    },
    async take() {
      stopTimer();
      await writing;
      return [...waiting];
    },
    drop() {
      stopTimer();
      waiting = [];
      writing = Promise.resolve();
    },
  };
}
