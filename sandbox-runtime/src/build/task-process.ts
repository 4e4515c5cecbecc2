import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { encodeFrame, TaskFrameReader } from './task-frames.ts';

export interface TaskProcessOptions {
  command: { program: string; args: string[] };
  /** What the process runs, an ES module. */
  script: string;
  /** All of the environment that the process gets. */
  environment: Readonly<Record<string, string>>;
}

/** How a task ended. Without an answer the process is gone, and `stderr` has its last words. */
export type TaskEnd =
  | { kind: 'answered'; answer: unknown }
  | { kind: 'lost'; cause: 'exit' | 'stop'; stderr: string }
  | { kind: 'lost'; cause: 'time'; timeoutMs: number };

const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const MAX_STDERR_CHARS = 4_096;

/**
 * A process of a build, in a group of its own. It does one task at a time, so that whatever ends it is that task's doing. What
 * it answers is not believed: it has dealt with code of strangers.
 */
export class TaskProcess {
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  tasksServed = 0;
  ended = false;
  #stderr = '';
  #settle: ((end: TaskEnd) => void) | undefined;

  constructor({ command, script, environment }: TaskProcessOptions) {
    this.#child = spawn(command.program, command.args, {
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    this.#channel = this.#child.stdio[3] as Duplex;
    // A process that ends at once closes its input before it is written; its exit is what counts.
    this.#child.stdin?.on('error', () => undefined).end(script);
    this.#listen();
  }

  /** Never rejects. Past `timeoutMs`, or when `signal` is aborted, the process is killed. */
  async run(task: unknown, timeoutMs: number, signal: AbortSignal): Promise<TaskEnd> {
    this.tasksServed += 1;
    const { promise, resolve } = Promise.withResolvers<TaskEnd>();
    this.#settle = resolve;
    const cutOff = (end: TaskEnd): void => {
      this.#finish(end);
      this.end();
    };
    const onAbort = (): void => cutOff({ kind: 'lost', cause: 'stop', stderr: this.#stderr });
    const timer = setTimeout(() => cutOff({ kind: 'lost', cause: 'time', timeoutMs }), timeoutMs);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else if (this.ended) this.#lose();
    else this.#channel.write(encodeFrame(task));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Kills the group: what the process started may outlive it. Idempotent. */
  end(): void {
    this.ended = true;
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // Nobody is left in the group.
    }
  }

  #listen(): void {
    const reader = new TaskFrameReader(MAX_ANSWER_BYTES);
    this.#channel.on('data', (chunk: Buffer) => {
      try {
        for (const answer of reader.push(chunk)) this.#finish({ kind: 'answered', answer });
      } catch {
        // It broke the protocol, and is lost like one that broke down.
        this.end();
      }
    });
    // The end of the process tells more than the end of its pipe.
    this.#channel.on('error', () => undefined);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < MAX_STDERR_CHARS) this.#stderr += text.slice(0, MAX_STDERR_CHARS);
    });
    this.#child.once('error', () => this.#lose());
    this.#child.once('exit', () => this.end());
    // Its last words have been read.
    this.#child.once('close', () => this.#lose());
  }

  #lose(): void {
    this.end();
    this.#finish({ kind: 'lost', cause: 'exit', stderr: this.#stderr });
  }

  #finish(end: TaskEnd): void {
    this.#settle?.(end);
    this.#settle = undefined;
  }
}
