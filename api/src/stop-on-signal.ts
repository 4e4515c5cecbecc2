import { LIMITS } from '@headwater/shared';
import type { Logger } from 'pino';

interface Stoppable {
  stop(options?: { isReplaced?: boolean }): Promise<void>;
}

export interface StopOnSignalOptions {
  starting: Promise<Stoppable>;
  /** The start has made nothing yet that would be left behind: it may be ended after a while. */
  mayEndStart: boolean;
  /** From the first signal to the forced end. */
  maxMs: number;
  /** Default: it is a signal to stop, as when the terminal was closed. */
  onHangup?: () => void;
  log: Logger;
}

export interface Stopping {
  came(): boolean;
  /** As a signal does. */
  stop(fields: object, options?: { isReplaced?: boolean }): void;
}

/**
 * The first signal ends the process in order, within `maxMs`; one that comes LIMITS.secondSignalMs
 * later at once. In between it is the same signal: a terminal or a supervisor sends it to the whole
 * group, and npm passes it on once more.
 */
export function stopOnSignal(options: StopOnSignalOptions): Stopping {
  const { starting, mayEndStart, maxMs, onHangup, log } = options;
  let firstMs: number | undefined;
  let isUp = false;
  starting.then(
    () => (isUp = true),
    // The caller ends the process.
    () => undefined,
  );
  const endStart = () => endInterruptedStart(undefined, log);
  const stop: Stopping['stop'] = (fields, stopOptions) => {
    firstMs = performance.now();
    log.info(fields, 'stopping');
    setTimeout(() => (isUp ? endInFailure(undefined, 'the stop took too long', log) : endStart()), maxMs).unref();
    if (mayEndStart) setTimeout(() => isUp || endStart(), LIMITS.interruptedStartMs).unref();
    starting
      .then((node) => node.stop(stopOptions))
      .then(
        () => process.exit(0),
        (err: unknown) => endInFailure(err, 'the stop failed', log),
      );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstMs === undefined) return stop({ signal });
    if (performance.now() - firstMs < LIMITS.secondSignalMs) return;
    log.warn({ signal }, 'stopping at once');
    process.exit(1);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // Without a listener the process would be gone at once.
  process.on('SIGHUP', onHangup ?? onSignal);
  return { came: () => firstMs !== undefined, stop: (fields, stopOptions) => firstMs ?? stop(fields, stopOptions) };
}

/**
 * Nothing has been asked of this node yet. A program that its start runs, such as initdb, ends with
 * the signal where that came to the whole group.
 */
export function endInterruptedStart(cause: unknown, log: Logger): never {
  log.info(cause === undefined ? {} : { err: cause }, 'the start was interrupted');
  process.exit(0);
}

export function endInFailure(err: unknown, message: string, log: Logger): never {
  log.fatal(err === undefined ? {} : { err }, message);
  process.exit(1);
}
