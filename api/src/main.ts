import { isConnectionLost } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { flushCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { growHeapFurther } from './grow-heap-further.ts';
import { printKey, printWelcome } from './print-welcome.ts';
import { createProcessLog } from './process-log.ts';
import { raisePriority } from './raise-priority.ts';
import { type RunningNode, startNode } from './start-node.ts';
import { endInFailure, endInterruptedStart, type Stopping, stopOnSignal } from './stop-on-signal.ts';
import { joinWorkers } from './workers/join-workers.ts';
import { startWorkers } from './workers/start-workers.ts';

const outcome = readConfig(process.env, process.argv.slice(2));
if (outcome.ok) run(outcome.config, createProcessLog(outcome.config, process.stdout));
else {
  process.stderr.write(`Headwater cannot start:\n${outcome.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  process.exitCode = 1;
}

function run(config: Config, log: Logger): void {
  // After an uncaught error the state is unknown, so the process ends. The next start resumes
  // stored work.
  process.on('uncaughtException', (err) => endInFailure(err, 'an uncaught failure', log));
  process.on('unhandledRejection', (err) => {
    // The connection is made anew, so the loss is no reason to end.
    if (isConnectionLost(err)) log.error({ err }, 'a connection was lost, and nothing waited for it');
    else endInFailure(err, 'an unhandled rejection', log);
  });
  raisePriority();
  const { workers, worker } = config;
  if (workers === undefined || worker !== undefined) runNode(config, log);
  else superviseWorkers({ ...config, workers }, log);
}

function runNode(config: Config, log: Logger): void {
  growHeapFurther();
  const { worker, workers: wanted = 1 } = config;
  const onStop = (isReplaced: boolean) => stopping.stop({ is_replaced: isReplaced }, { isReplaced });
  const workers = worker && joinWorkers({ wanted, onStop });
  let madeKey: string | undefined;
  const starting = startNode({
    config,
    log,
    onAccount: ({ apiKey }) => (madeKey = apiKey),
    ...(workers && { workers }),
  });
  const stopping = stopOnSignal({
    starting,
    // An embedded Postgres that is just being started would be left behind.
    mayEndStart: config.databaseUrl !== undefined,
    maxMs: LIMITS.shutdownMs,
    // The supervisor decides what it means.
    ...(workers && { onHangup: () => undefined }),
    log,
  });
  starting.catch(() => {
    if (madeKey !== undefined) printKey(madeKey, (text) => void process.stdout.write(text));
  });
  follow(starting, stopping, log, (node) => {
    announce(config, node, log);
    workers?.up();
  });
}

/** Starts nodes, each in a process of its own, and serves nothing itself. */
function superviseWorkers(config: Config & { workers: number }, log: Logger): void {
  const starting = startWorkers(config, log);
  const restart = () => {
    starting.then(
      (workers) => workers.restart(),
      () => undefined,
    );
  };
  const stopping = stopOnSignal({
    starting,
    mayEndStart: config.databaseUrl !== undefined,
    maxMs: LIMITS.workersShutdownMs,
    // At a terminal it says that this was closed, and the server ends with it.
    ...(process.stdout.isTTY ? {} : { onHangup: restart }),
    log,
  });
  follow(starting, stopping, log, () => sayUp(config, log));
}

function follow<T>(starting: Promise<T>, stopping: Stopping, log: Logger, onUp: (started: T) => void): void {
  // A start that waits for its database has nothing open that keeps a process alive.
  const awake = setInterval(() => undefined, LIMITS.shutdownMs);
  starting.then(
    (started) => {
      clearInterval(awake);
      onUp(started);
    },
    (cause: unknown) => {
      if (stopping.came()) endInterruptedStart(cause, log);
      failToStart(cause, log);
    },
  );
}

function sayUp({ role, publicUrl, host, port, workers, worker }: Config, log: Logger): void {
  const fields = {
    role,
    url: publicUrl,
    host,
    port,
    ...(workers !== undefined && worker === undefined && { workers }),
  };
  log.info(fields, worker === undefined ? 'headwater is up' : 'worker is up');
  // For the next start; not only at the end, which may be a sudden one.
  flushCompileCache();
}

function announce(config: Config, { firstAccount }: RunningNode, log: Logger): void {
  sayUp(config, log);
  if (!firstAccount.first) return;
  const { publicUrl } = config;
  const { apiKey } = firstAccount;
  const write = (text: string) => void process.stdout.write(text);
  printWelcome({ publicUrl, write, ...(apiKey === undefined ? {} : { apiKey }) });
}

/** Hints for a node that cannot listen, by error code. */
const HINTS: Record<string, string> = {
  EADDRINUSE: 'Set another PORT, or stop the other server, which may be a Headwater that runs already',
  EADDRNOTAVAIL: 'Set HOST to an address of this machine',
  ENOTFOUND: 'Set HOST to an address of this machine: no host of this name is known',
};

/** Reports a problem that the operator can fix as a sentence, all else with its stack. */
function failToStart(cause: unknown, log: Logger): void {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const hint = HINTS[code];
  if (cause instanceof HeadwaterError || hint !== undefined || code === 'EACCES') {
    const next = hint === undefined ? '' : `\n  - ${hint}`;
    process.stderr.write(`Headwater cannot start: ${cause instanceof Error ? cause.message : String(cause)}${next}\n`);
    process.exit(1);
  }
  endInFailure(cause, 'headwater could not start', log);
}
