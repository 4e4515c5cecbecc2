import type { FromWorker, WorkerFigures } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker that does not answer for so long is left out. */
const MAX_WAIT_MS = 2_000;

/** Asks all workers for their figures where one of them is asked for those of the machine. */
export function createFiguresGatherer(workers: () => readonly WorkerProcess[]) {
  let lastId = 0;
  const asked = new Map<number, (worker: number, text: string) => void>();

  function gather(): Promise<WorkerFigures[]> {
    const id = ++lastId;
    const missing = new Set(workers().filter((one) => one.isUp()));
    const figures: WorkerFigures[] = [];
    return new Promise((resolve) => {
      const end = () => {
        asked.delete(id);
        clearTimeout(timer);
        resolve(figures.toSorted((one, other) => one.worker - other.worker));
      };
      const timer = setTimeout(end, MAX_WAIT_MS);
      asked.set(id, (worker, text) => {
        figures.push({ worker, text });
        if (figures.length === missing.size) end();
      });
      for (const one of missing) one.send({ kind: 'read-figures', id });
      if (missing.size === 0) end();
    });
  }

  return (from: WorkerProcess, message: FromWorker): void => {
    if (message.kind === 'figures') asked.get(message.id)?.(from.number, message.text);
    if (message.kind === 'gather-figures') {
      const { id } = message;
      void gather().then((figures) => from.send({ kind: 'gathered-figures', id, figures }));
    }
  };
}
