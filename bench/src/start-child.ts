import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Undo } from './undo.ts';

/**
 * Starts a part of the bench in a process of its own, so that the driver does not measure itself.
 * It ends with us.
 */
export function startChild(file: URL, undo: Undo, args: readonly string[] = []): ChildProcess {
  const child = fork(file, args, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  return child;
}

/** The child's next message, or a rejection when it ends without one. */
export function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => {
      child.off('message', onMessage);
      reject(new Error(`A process of the bench ended with ${code} before it answered`));
    };
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as T);
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}
