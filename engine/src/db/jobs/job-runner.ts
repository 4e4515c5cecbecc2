import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type LogFunctionFactory,
  Logger,
  run,
  type Runner,
  type TaskList,
  type WorkerEvents,
  WorkerPreset,
} from 'graphile-worker';
import type { Log } from '../../contract/index.ts';
import { createJobPool } from './job-pool.ts';

export interface JobRunnerOptions {
  databaseUrl: string;
  tasks: TaskList;
  /**
   * Called with the name under which this runner locks jobs, before it locks the first. `ended`:
   * under which it did before it was started again.
   */
  onPool: (poolId: string, ended?: string) => void;
  /**
   * Silence of the database after which a connection is closed. Default LIMITS.databaseSilenceMs.
   */
  silenceMs?: number;
  /** When it is aborted, a stop no longer waits for the database. Default: never. */
  gaveUp?: AbortSignal;
  log: Log;
}

export interface JobRunner {
  stop(): Promise<void>;
}

/**
 * Lanes at work at the same time on one node. Most of them wait for the database, ticks of timers
 * for one transaction.
 */
const CONCURRENCY = 24;
/**
 * How late a job with a future time may start; jobs for now are announced by NOTIFY and start at
 * once.
 */
const POLL_INTERVAL_MS = 100;
/**
 * Jobs that one fetch takes for all workers of the node: one query a poll instead of one a worker.
 */
const LOCAL_QUEUE_SIZE = 64;
/** Ended jobs are reported together after this long. */
const REPORT_BATCH_MS = 10;
/** So long after it has ended by itself it is started again. */
const RESTART_MS = 500;

/**
 * Runs graphile-worker in this process. Signals are the process's business. It ends by itself when
 * it cannot report ended jobs, as when the database is restarted: then it is started again, until
 * it is stopped.
 */
export async function startJobRunner(options: JobRunnerOptions): Promise<JobRunner> {
  const { log } = options;
  const stopped = new AbortController();
  const start = createStart(options, stopped.signal);
  const startOrTell = () =>
    start().catch((err: unknown) => {
      log.error({ err }, 'the job runner could not be started');
      return undefined;
    });
  let runner: Runner | undefined = await startOrTell();
  let stopping: Promise<void> | undefined;

  async function keepRunning(): Promise<void> {
    for (;;) {
      // The runner has logged its error.
      await runner?.promise.catch(() => undefined);
      runner = undefined;
      if (stopped.signal.aborted) return;
      log.warn('the job runner has ended; it is started again');
      await sleep(RESTART_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      runner = await startOrTell();
      if (stopped.signal.aborted) await stopRunner();
    }
  }

  // It may be ending by itself at this moment, which is an error to it.
  const stopRunner = async () => runner?.stop().catch((err: unknown) => log.warn({ err }, 'the job runner has ended'));
  const running = keepRunning();
  return {
    stop() {
      stopping ??= (async () => {
        stopped.abort();
        await stopRunner();
        await running;
      })();
      return stopping;
    },
  };
}

function createStart(options: JobRunnerOptions, stopping: AbortSignal): () => Promise<Runner> {
  let pool: string | undefined;
  const onPool = (poolId: string) => {
    options.onPool(poolId, pool);
    pool = poolId;
  };
  return () => {
    const events: WorkerEvents = new EventEmitter();
    events.on('pool:create', ({ workerPool }) => onPool(workerPool.id));
    // Opened as they are needed, and few are: jobs are fetched and reported in batches.
    const pgPool = createJobPool({ ...options, maxConnections: CONCURRENCY, stopping });
    const endPool = () => pgPool.end();
    const starting = run({
      pgPool,
      events,
      preset: {
        extends: [WorkerPreset],
        worker: {
          concurrentJobs: CONCURRENCY,
          pollInterval: POLL_INTERVAL_MS,
          // By their names its statements are replaced by ours.
          preparedStatements: true,
          localQueue: { size: LOCAL_QUEUE_SIZE },
          completeJobBatchDelay: REPORT_BATCH_MS,
          // Without a batch, a failure that the database does not accept becomes a rejection that
          // no code can handle.
          failJobBatchDelay: REPORT_BATCH_MS,
        },
      },
      taskList: options.tasks,
      noHandleSignals: true,
      crontab: '',
      logger: loggerOf(options.log),
    });
    void starting.then(({ promise }) => promise).then(endPool, endPool);
    return starting;
  };
}

function loggerOf(log: Log): Logger {
  const factory: LogFunctionFactory = () => (level, message, meta) => {
    switch (level) {
      case 'error':
        log.error({ meta }, message);
        break;
      case 'warning':
        log.warn(message);
        break;
      default:
        // Its own info lines say that jobs start and end: one line a lane is noise.
        log.debug(message);
    }
  };
  return new Logger(factory);
}
