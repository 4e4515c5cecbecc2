import { isConnectionLost } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { flushCompileCache } from 'node:module';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { letHeapGrow } from './let-heap-grow.ts';
import { printKey, printWelcome } from './print-welcome.ts';
import { createProcessLog } from './process-log.ts';
import { raisePriority } from './raise-priority.ts';
import { type RunningNode, startNode } from './start-node.ts';

const outcome = readConfig(process.env, process.argv.slice(2));
if (outcome.ok) run(outcome.config, createProcessLog(outcome.config, process.stdout));
else {
  process.stderr.write(`Headwater cannot start:\n${outcome.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  process.exitCode = 1;
}

function run(config: Config, log: Logger): void {
  // After an uncaught error the state is unknown, so the process ends. The next start resumes
  // stored work.
  process.on('uncaughtException', (err) => fail(log, err, 'a failure that nobody caught'));
  process.on('unhandledRejection', (err) => {
    // The connection is made anew, so the loss is no reason to end.
    if (isConnectionLost(err)) log.error({ err }, 'a connection was lost, and nothing waited for it');
    else fail(log, err, 'a rejection that nobody handled');
  });
  raisePriority();
  letHeapGrow();
  let madeKey: string | undefined;
  const starting = startNode(config, log, ({ apiKey }) => (madeKey = apiKey));
  // A start that waits for its database has nothing open that keeps a process alive.
  const awake = setInterval(() => undefined, LIMITS.shutdownMs);
  const signals = stopOnSignal(starting, config, log);
  starting.then(
    (node) => {
      clearInterval(awake);
      announce(config, node, log);
    },
    (cause: unknown) => {
      if (madeKey !== undefined) printKey(madeKey, (text) => void process.stdout.write(text));
      if (signals.came()) endInterruptedStart(cause, log);
      failToStart(cause, log);
    },
  );
}

function announce(config: Config, { firstAccount }: RunningNode, log: Logger): void {
  const { role, publicUrl, host, port } = config;
  log.info({ role, url: publicUrl, host, port }, 'headwater is up');
  // For the next start; not only at the end, which may be a sudden one.
  flushCompileCache();
  if (!firstAccount.first) return;
  const { apiKey } = firstAccount;
  const write = (text: string) => void process.stdout.write(text);
  printWelcome({ publicUrl, write, ...(apiKey === undefined ? {} : { apiKey }) });
}

/**
 * The first signal ends the process in order, within LIMITS.shutdownMs; one that comes
 * LIMITS.secondSignalMs later at once. In between it is the same signal: a terminal or a supervisor
 * sends it to the whole group, and npm passes it on once more.
 */
function stopOnSignal(starting: Promise<RunningNode>, config: Config, log: Logger): { came(): boolean } {
  let firstMs: number | undefined;
  let isUp = false;
  starting.then(
    () => (isUp = true),
    // The caller ends the process.
    () => undefined,
  );
  const endStart = () => endInterruptedStart(undefined, log);
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs < LIMITS.secondSignalMs) return;
      log.warn({ signal }, 'stopping at once');
      process.exit(1);
    }
    firstMs = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => (isUp ? fail(log, undefined, 'the stop took too long') : endStart()), LIMITS.shutdownMs).unref();
    // An embedded Postgres that is just being started would be left behind.
    if (config.databaseUrl !== undefined) setTimeout(() => isUp || endStart(), LIMITS.interruptedStartMs).unref();
    starting
      .then((node) => node.stop())
      .then(
        () => process.exit(0),
        (err: unknown) => fail(log, err, 'the stop failed'),
      );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // The terminal was closed; without this the process would be gone at once.
  process.on('SIGHUP', onSignal);
  return { came: () => firstMs !== undefined };
}

/**
 * Nothing has been asked of this node yet. A program that its start runs, such as initdb, ends with
 * the signal where that came to the whole group.
 */
function endInterruptedStart(cause: unknown, log: Logger): never {
  log.info(cause === undefined ? {} : { err: cause }, 'the start was interrupted');
  process.exit(0);
}

/** Hints for a node that cannot listen, by error code. */
const HINTS: Record<string, string> = {
  EADDRINUSE: 'PORT names another port; it may be a Headwater that runs already',
  EADDRNOTAVAIL: 'HOST names the address to listen on, which must be one of this machine',
  ENOTFOUND: 'HOST names the address to listen on, and no host of this name is known',
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
  fail(log, cause, 'headwater could not start');
}

function fail(log: Logger, err: unknown, message: string): never {
  log.fatal(err === undefined ? {} : { err }, message);
  process.exit(1);
}
