import { type HeldDatabase, holdDatabase } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { createFiguresGatherer } from './gather-figures.ts';
import { type FromWorker, type WorkersStatus } from './messages.ts';
import { forkWorker, type WorkerProcess } from './worker-process.ts';
import { startWorkerSlot, type WorkerSlot } from './worker-slot.ts';

export interface RunningWorkers {
  /** One worker after the other, each once its new process is up. */
  restart(): void;
  /** Rejects where a worker did not end in order. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Runs `config.workers` nodes, each a process, on one port and one database. Rejects where the
 * first one does not start; then nothing is left running.
 */
export async function startWorkers(config: Config & { workers: number }, log: Logger): Promise<RunningWorkers> {
  const held = config.databaseUrl === undefined ? await holdFor(config, log) : undefined;
  const supervisor = new Supervisor(config, held, log);
  try {
    await supervisor.start();
  } catch (error) {
    await supervisor.stop().catch(() => undefined);
    throw error;
  }
  return supervisor;
}

function holdFor({ dataDir, workers }: Config & { workers: number }, log: Logger): Promise<HeldDatabase> {
  // A restart has one process more for a while.
  return holdDatabase({ dataDir, maxNodes: workers + 1, log });
}

class Supervisor implements RunningWorkers {
  readonly #config: Config & { workers: number };
  readonly #held: HeldDatabase | undefined;
  readonly #log: Logger;
  readonly #slots: WorkerSlot[] = [];
  readonly #onFigures = createFiguresGatherer(() => this.#current());
  #restarts = 0;
  #restarting: Promise<void> | undefined;
  #restartsAgain = false;
  #lastRestartMs = Number.NEGATIVE_INFINITY;
  #stopped: Promise<void> | undefined;

  constructor(config: Config & { workers: number }, held: HeldDatabase | undefined, log: Logger) {
    this.#config = config;
    this.#held = held;
    this.#log = log;
    process.once('exit', () => this.#slots.forEach((slot) => slot.kill()));
  }

  /** The first one alone: it makes what is missing, and says what is wrong once. */
  async start(): Promise<void> {
    const first = this.#add();
    if (!(await first.current().up)) {
      throw new HeadwaterError('UNAVAILABLE', 'the first worker ended before it was up, for the reason above');
    }
    const others = Array.from({ length: this.#config.workers - 1 }, () => this.#add());
    await Promise.all(others.map((slot) => slot.current().up));
  }

  restart(): void {
    // npm passes on a signal that came to the whole group.
    if (performance.now() - this.#lastRestartMs < LIMITS.secondSignalMs) return;
    this.#lastRestartMs = performance.now();
    if (this.#restarting !== undefined) {
      this.#restartsAgain = true;
      return;
    }
    this.#beginRestart();
  }

  #beginRestart(): void {
    this.#restarting = this.#replaceAll().finally(() => {
      this.#restarting = undefined;
      if (!this.#restartsAgain) return;
      this.#restartsAgain = false;
      this.#beginRestart();
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #replaceAll(): Promise<void> {
    this.#log.info({ workers: this.#config.workers }, 'restarting the workers, one after the other');
    try {
      for (const slot of this.#slots) await slot.replace();
      if (this.#stopped === undefined) this.#log.info({}, 'the workers were restarted');
    } catch (err) {
      if (this.#stopped === undefined)
        this.#log.error({ err }, 'the restart was given up, and the workers that ran before go on');
    }
  }

  async #stopAll(): Promise<void> {
    const ends = (await Promise.all(this.#slots.map((slot) => slot.stop()))).flat();
    await this.#held?.stop();
    if (ends.some(({ code }) => code !== 0)) throw new Error('A worker did not end in order');
  }

  #add(): WorkerSlot {
    const number = this.#slots.length + 1;
    const slot = startWorkerSlot({
      fork: () => this.#fork(number),
      onRestart: () => {
        this.#restarts++;
      },
      log: this.#log,
    });
    this.#slots.push(slot);
    return slot;
  }

  #fork(number: number): WorkerProcess {
    const { role } = this.#config;
    const one = forkWorker({
      number,
      args: [role, '--worker', String(number), ...(this.#held === undefined ? [] : ['--shares-embedded'])],
      env: this.#held === undefined ? {} : { DATABASE_URL: this.#held.url },
      onMessage: (from, message) => this.#onMessage(from, message),
    });
    void one.exited.then(() => this.#tellStatus());
    return one;
  }

  #onMessage(from: WorkerProcess, message: FromWorker): void {
    if (message.kind === 'up') this.#tellStatus();
    else this.#onFigures(from, message);
  }

  #tellStatus(): void {
    const current = this.#current();
    const status: WorkersStatus = {
      wanted: this.#config.workers,
      up: current.filter((one) => one.isUp()).length,
      restarts: this.#restarts,
    };
    for (const one of current) one.send({ kind: 'status', status });
  }

  #current(): WorkerProcess[] {
    return this.#slots.map((slot) => slot.current());
  }
}
