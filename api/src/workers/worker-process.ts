import cluster, { type Worker } from 'node:cluster';
import type { FromWorker, ToWorker } from './messages.ts';

export interface WorkerEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface WorkerProcess {
  number: number;
  /** Resolves with false where it ended before it was up. */
  up: Promise<boolean>;
  isUp(): boolean;
  exited: Promise<WorkerEnd>;
  /** Does nothing once it has ended. */
  send(message: ToWorker): void;
  kill(): void;
}

export interface ForkOptions {
  number: number;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  onMessage(from: WorkerProcess, message: FromWorker): void;
}

/**
 * A process that runs the main file of this one. Workers accept from one socket, which this process
 * keeps: a connection waits with the system until any of them takes it, whoever ends meanwhile.
 */
export function forkWorker({ number, args, env, onMessage }: ForkOptions): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ args: [...args] });
  const worker = cluster.fork(env);
  let isUp = false;
  const exited = new Promise<WorkerEnd>((resolve) => {
    worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal }));
    // It could not be started; without a listener the error would end this process.
    worker.on('error', () => {
      // It comes also where a message to a living process failed.
      if (worker.process.pid === undefined) resolve({ code: 1, signal: null });
    });
  });
  const up = Promise.withResolvers<boolean>();
  void exited.then(() => {
    isUp = false;
    up.resolve(false);
  });
  const one: WorkerProcess = {
    number,
    up: up.promise,
    isUp: () => isUp,
    exited,
    send: (message) => sendTo(worker, message),
    kill: () => void worker.process.kill('SIGKILL'),
  };
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'up') {
      isUp = true;
      up.resolve(true);
    }
    onMessage(one, message);
  });
  return one;
}

function sendTo(worker: Worker, message: ToWorker): void {
  // One that ends meanwhile does not hear it.
  if (worker.isConnected()) worker.process.send(message, undefined, undefined, () => undefined);
}
