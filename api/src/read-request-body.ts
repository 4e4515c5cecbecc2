import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';

export type BodyOutcome = { kind: 'complete'; bytes: Buffer } | { kind: 'too-large' } | { kind: 'aborted' };

const EMPTY: BodyOutcome = { kind: 'complete', bytes: Buffer.alloc(0) };

/** Reads at most `maxBytes`; an announced length over it is refused before the first byte. `onBytes` is told of each piece, and answers for how many ms to rest. */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  onBytes?: (count: number) => number,
): BodyOutcome | Promise<BodyOutcome> {
  const announced = request.headers['content-length'];
  if (announced === undefined && request.headers['transfer-encoding'] === undefined) return EMPTY;
  if (Number(announced ?? 0) > maxBytes) return { kind: 'too-large' };
  // Its sender left while it waited for its turn: nothing more is heard of it.
  if (request.destroyed) return { kind: 'aborted' };
  return new Promise((resolve) => {
    const collected = new CollectedBytes(Number(announced ?? maxBytes));
    const rest = createRest(request);
    const settle = (outcome: BodyOutcome) => {
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      rest.end();
      resolve(outcome);
    };
    const onData = (chunk: Buffer) => {
      if (collected.length + chunk.length > maxBytes) return settle({ kind: 'too-large' });
      collected.add(chunk);
      rest.begin(onBytes?.(chunk.length) ?? 0);
    };
    const onEnd = () => settle({ kind: 'complete', bytes: collected.join() });
    const onAbort = () => settle({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

/**
 * A request that was only paused would go on taking pieces from its connection, up to 64 KB of them: where they are single bytes,
 * fifty megabytes of memory that nobody counts. So its connection rests, and what was read from it before is taken first.
 */
function createRest(request: IncomingMessage) {
  let restMs = 0;
  let isOver = false;
  const readNoFurther = () => {
    if (!isOver) request.socket.pause();
  };
  const begin = () => {
    if (isOver) return;
    request.pause();
    request.socket.pause();
    setTimeout(end, restMs).unref();
  };
  const end = () => {
    restMs = 0;
    request.resume();
    request.socket.resume();
  };
  return {
    begin(ms: number): void {
      if (ms === 0) return;
      if (restMs === 0) {
        // After the ticks in which node itself has the connection go on, and before the next of up to 32 reads that follow each other.
        queueMicrotask(readNoFurther);
        // After all the pieces of what was read.
        setImmediate(begin);
      }
      restMs = Math.max(restMs, ms);
    },
    /** The request is not to be read any more, or is over. */
    end(): void {
      isOver = true;
    },
  };
}
