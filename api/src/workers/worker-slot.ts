import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { Log } from '../log.ts';
import type { WorkerEnd, WorkerProcess } from './worker-process.ts';

/** One of the workers that are wanted, whichever process it is at the moment. */
export interface WorkerSlot {
  current(): WorkerProcess;
  /**
   * Starts another process, and stops the present one once the other is up. Rejects where it does
   * not come up; then the present one stays.
   */
  replace(): Promise<void>;
  /** Stops what runs of it and resolves with how each ended. */
  stop(): Promise<WorkerEnd[]>;
  kill(): void;
}

export interface WorkerSlotOptions {
  fork(): WorkerProcess;
  /** It ended by itself and was started again. */
  onRestart(): void;
  log: Log;
}

/** A worker that lived for so long begins with the shortest pause again. */
const STEADY_MS = 60_000;

export function startWorkerSlot({ fork, onRestart, log }: WorkerSlotOptions): WorkerSlot {
  const running = new Set<WorkerProcess>();
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const start = () => {
    const one = fork();
    running.add(one);
    void one.exited.then(() => running.delete(one));
    return one;
  };
  let current = start();

  async function keepRunning(): Promise<void> {
    let failures = 0;
    while (!isStopping()) {
      const watched = current;
      const beganMs = performance.now();
      const end = await watched.exited;
      if (isStopping() || watched !== current) continue;
      failures = performance.now() - beganMs > STEADY_MS ? 0 : failures + 1;
      const pauseMs = Math.min(LIMITS.maxWorkerPauseMs, LIMITS.minWorkerPauseMs * 2 ** Math.max(0, failures - 1));
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping() || watched !== current) continue;
      log.error({ worker: watched.number, ...end, after_ms: pauseMs }, 'a worker ended and is started again');
      current = start();
      onRestart();
    }
  }

  async function replace(): Promise<void> {
    if (isStopping()) return;
    const next = start();
    if (!(await next.up)) throw new Error(`The new process of worker ${next.number} ended before it was up`);
    const before = current;
    current = next;
    before.send({ kind: 'stop', isReplaced: true });
    await before.exited;
  }

  const keeping = keepRunning();
  return {
    current: () => current,
    replace,
    async stop() {
      stopping.abort();
      const all = [...running];
      for (const one of all) one.send({ kind: 'stop', isReplaced: false });
      const ends = await Promise.all(all.map(({ exited }) => exited));
      await keeping;
      return ends;
    },
    kill: () => running.forEach((one) => one.kill()),
  };
}
