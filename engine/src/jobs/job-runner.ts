import { EventEmitter } from 'node:events';
import { type LogFunctionFactory, Logger, run, type TaskList, type WorkerEvents, WorkerPreset } from 'graphile-worker';
import type { Log } from '../log.ts';

export interface JobRunnerOptions {
  databaseUrl: string;
  tasks: TaskList;
  /** Called with the name under which this runner locks jobs, before it locks the first. */
  onPool: (poolId: string) => void;
  log: Log;
}

export interface JobRunner {
  stop(): Promise<void>;
}

/** Lanes at work at the same time on one node. Most of them wait for the database, ticks of timers for one transaction. */
const CONCURRENCY = 24;
/** How late a job with a future time may start; jobs for now are announced by NOTIFY and start at once. */
const POLL_INTERVAL_MS = 100;
/** Jobs that one fetch takes for all workers of the node: one query a poll instead of one a worker. */
const LOCAL_QUEUE_SIZE = 64;
/** Ended jobs are reported together after this long. */
const COMPLETE_BATCH_MS = 10;

/** Runs graphile-worker in this process. Signals are the process's business. */
export async function startJobRunner(options: JobRunnerOptions): Promise<JobRunner> {
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => options.onPool(workerPool.id));
  const runner = await run({
    events,
    preset: {
      extends: [WorkerPreset],
      worker: {
        connectionString: options.databaseUrl,
        concurrentJobs: CONCURRENCY,
        pollInterval: POLL_INTERVAL_MS,
        localQueue: { size: LOCAL_QUEUE_SIZE },
        completeJobBatchDelay: COMPLETE_BATCH_MS,
        // Opened as they are needed, and few are: jobs are fetched and reported in batches.
        maxPoolSize: CONCURRENCY,
      },
    },
    taskList: options.tasks,
    noHandleSignals: true,
    crontab: '',
    logger: loggerOf(options.log),
  });
  let stopping: Promise<void> | undefined;
  return {
    stop() {
      stopping ??= runner.stop();
      return stopping;
    },
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
