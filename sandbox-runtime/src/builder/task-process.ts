import { ACCOUNT_LIMITS } from '@headwater/shared';
import type { Duplex } from 'node:stream';
import { BUILD_NICE } from '../confinement/cpu-priority.ts';
import type { ProcessHandle, ProcessStarter } from '../starter/starter.ts';
import { encodeFrame, TaskFrameReader } from './task-frames.ts';

export interface TaskProcessOptions {
  command: { program: string; args: string[] };
  /** ES module that the process runs. */
  script: string;
  /** All of the environment that the process gets. */
  environment: Readonly<Record<string, string>>;
  starter: ProcessStarter;
}

/** How a task ended. Without an answer the process is gone, and `stderr` has its last words. */
export type TaskEnd<Answer = unknown> =
  | { kind: 'answered'; answer: Answer; text: Buffer }
  | { kind: 'lost'; cause: 'exit' | 'stop'; stderr: string }
  | { kind: 'lost'; cause: 'time'; timeoutMs: number };

export interface Task<Answer = unknown> {
  value: unknown;
  text?: Buffer;
  timeoutMs: number;
  /** An invalid answer counts as a crash of the process. */
  isAnswer(answer: unknown): answer is Answer;
}

/**
 * The node's thread parses the JSON in one piece: source maps of the author's own megabyte, and
 * lists of errors or missing files.
 */
const MAX_ANSWER = { maxJsonBytes: 16 * 1024 * 1024, maxTextBytes: ACCOUNT_LIMITS.maxBundleBytes.max };

/**
 * A process of a build, in a process group of its own. It runs one task at a time, so that task is
 * the cause if it ends. Its answers are not trusted, because it has processed foreign code.
 */
export class TaskProcess {
  readonly #handle: ProcessHandle;
  #channel: Duplex | undefined;
  /** The task that waits for the process to be there. */
  #unsent: Buffer | undefined;
  tasksServed = 0;
  ended = false;
  #stderr = '';
  #settle: ((end: TaskEnd) => void) | undefined;
  #isAnswer: (answer: unknown) => boolean = () => false;

  constructor({ command, script, environment, starter }: TaskProcessOptions) {
    this.#handle = starter.start(
      { ...command, script, environment, files: [], sessionNice: BUILD_NICE },
      {
        started: (_pid, channel) => this.#listen(channel),
        ended: ({ stderr }) => {
          this.#stderr = stderr;
          this.#lose();
        },
      },
    );
  }

  /** Never rejects. Past `timeoutMs`, or when `signal` is aborted, the process is killed. */
  async run<Answer>({ value, text, timeoutMs, isAnswer }: Task<Answer>, signal: AbortSignal): Promise<TaskEnd<Answer>> {
    this.tasksServed += 1;
    const { promise, resolve } = Promise.withResolvers<TaskEnd<Answer>>();
    this.#settle = resolve as (end: TaskEnd) => void;
    this.#isAnswer = isAnswer;
    const cutOff = (end: TaskEnd<never>): void => {
      this.#finish(end);
      this.end();
    };
    const onAbort = (): void => cutOff({ kind: 'lost', cause: 'stop', stderr: this.#stderr });
    const timer = setTimeout(() => cutOff({ kind: 'lost', cause: 'time', timeoutMs }), timeoutMs);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else if (this.ended) this.#lose();
    else this.#send(encodeFrame(value, text));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Kills the process and its children. Idempotent. */
  end(): void {
    this.ended = true;
    this.#handle.kill();
  }

  #send(bytes: Buffer): void {
    if (this.#channel === undefined) this.#unsent = bytes;
    else this.#channel.write(bytes);
  }

  #listen(channel: Duplex): void {
    this.#channel = channel;
    const reader = new TaskFrameReader(MAX_ANSWER);
    channel.on('data', (chunk: Buffer) => {
      try {
        for (const { value, text } of reader.push(chunk)) this.#answered(value, text);
      } catch {
        // It broke the protocol, and is lost like one that broke down.
        this.end();
      }
    });
    if (this.#unsent !== undefined) channel.write(this.#unsent);
    this.#unsent = undefined;
  }

  #answered(answer: unknown, text: Buffer): void {
    // No task waits: a later answer could be mistaken for the answer to another task.
    if (this.#settle === undefined) return this.end();
    if (!this.#isAnswer(answer)) return this.#lose('The process sent a malformed answer');
    this.#finish({ kind: 'answered', answer, text });
  }

  #lose(reason = this.#stderr): void {
    this.end();
    this.#finish({ kind: 'lost', cause: 'exit', stderr: reason });
  }

  #finish(end: TaskEnd): void {
    this.#settle?.(end);
    this.#settle = undefined;
  }
}
