import cluster from 'node:cluster';
import type { FromWorker, ToWorker, WorkerFigures, WorkersStatus } from './messages.ts';
import { mergeFigures } from './merge-figures.ts';

/** The other workers of the machine, as one of them sees them. */
export interface Workers {
  status(): WorkersStatus;
  /** Gives the others what `readOwn` reads, and answers how to read the figures of all. */
  shareFigures(readOwn: () => Promise<string>): () => Promise<string>;
}

export interface JoinedWorkers extends Workers {
  /** Tells the supervisor that this one serves. */
  up(): void;
}

export interface JoinWorkersOptions {
  wanted: number;
  /** The supervisor wants this one to end, or has ended. `isReplaced`: another one serves. */
  onStop(isReplaced: boolean): void;
}

/** Figures that are the same on all workers. */
const OF_MACHINE = new Set(['headwater_executions_waiting', 'headwater_workers_up', 'headwater_worker_restarts_total']);

/** In a process that a supervisor has started. */
export function joinWorkers({ wanted, onStop }: JoinWorkersOptions): JoinedWorkers {
  let status: WorkersStatus = { wanted, up: 1, restarts: 0 };
  let lastId = 0;
  const waiting = new Map<number, (figures: WorkerFigures[]) => void>();
  let readOwn = async () => '';
  const tell = (message: FromWorker) => process.send?.(message, undefined, undefined, () => undefined);
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') onStop(message.isReplaced);
    else if (message.kind === 'status') ({ status } = message);
    else if (message.kind === 'gathered-figures') {
      waiting.get(message.id)?.(message.figures);
      waiting.delete(message.id);
    } else {
      const { id } = message;
      // One that fails is left out, as one that does not answer.
      readOwn().then(
        (text) => tell({ kind: 'figures', id, text }),
        () => undefined,
      );
    }
  });
  process.prependListener('disconnect', () => {
    // Node would end the process at once.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
    onStop(false);
  });
  return {
    status: () => status,
    shareFigures(read) {
      readOwn = read;
      return async () => {
        const id = ++lastId;
        const figures = new Promise<WorkerFigures[]>((resolve) => waiting.set(id, resolve));
        tell({ kind: 'gather-figures', id });
        return mergeFigures(await figures, OF_MACHINE);
      };
    },
    up: () => void tell({ kind: 'up' }),
  };
}
