import { Socket } from 'node:net';
import { encodeFrame, type TaskFrame, TaskFrameReader } from './task-frames.ts';

/** The pipe to the node. */
const CHANNEL_FD = 3;
/** From the node, which is trusted. */
const MAX_TASK = { maxJsonBytes: 64 * 1024 * 1024, maxTextBytes: 64 * 1024 * 1024 };

export interface TaskAnswer {
  value: unknown;
  /** Long text that the node need not parse. */
  text?: string;
}

/**
 * Serves the tasks of a build process, one after the other. A failed task ends the process, because
 * its state may be broken. The end of the node does too. Both end all programs started here.
 */
export function serveTasks(work: (task: unknown, text: Buffer) => Promise<TaskAnswer>): void {
  const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  const reader = new TaskFrameReader(MAX_TASK);
  const serve = async (task: TaskFrame): Promise<void> => {
    try {
      const { value, text } = await work(task.value, task.text);
      channel.write(encodeFrame(value, text));
    } catch (error) {
      // The node logs the last output of a process that ends.
      process.stderr.write(`${error instanceof Error ? error.message : 'a task failed'}\n`, endGroup);
    }
  };
  channel.on('data', (chunk: Buffer) => {
    for (const task of reader.push(chunk)) void serve(task);
  });
  channel.on('close', endGroup);
  channel.on('error', endGroup);
}

/**
 * Process id in a PID namespace of its own: its exit ends all others, and a signal to its group
 * skips itself.
 */
const FIRST_PID = 1;

// A build process leads a group of its own; the bundler's program is in it and may be busy for
// ever.
function endGroup(): void {
  if (process.pid === FIRST_PID) process.exit();
  process.kill(-process.pid, 'SIGKILL');
}
