import type { IncomingMessage } from 'node:http';
import { KeptBytes } from '@headwater/shared';

export type BodyOutcome =
  | { kind: 'complete'; bytes: Buffer }
  /** `seenBytes`: announced or received. */
  | { kind: 'too-large'; seenBytes: number }
  | { kind: 'aborted' };

/** Shorter ones are put together, as they may be asked for after each byte. */
const MIN_REST_MS = 4;

const EMPTY: BodyOutcome = { kind: 'complete', bytes: Buffer.alloc(0) };

/**
 * Reads at most `maxBytes`; an announced length over it is refused before the first byte. `onBytes`
 * is told of each piece, and answers for how many ms to rest by now; rests of less than MIN_REST_MS
 * are left to the next.
 */
export function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  onBytes?: (count: number) => number,
): BodyOutcome | Promise<BodyOutcome> {
  const announced = request.headers['content-length'];
  if (announced === undefined && request.headers['transfer-encoding'] === undefined) return EMPTY;
  const announcedBytes = Number(announced ?? 0);
  if (announcedBytes > maxBytes) return { kind: 'too-large', seenBytes: announcedBytes };
  // Its sender left while it waited for its turn: nothing more is heard of it.
  if (request.destroyed) return { kind: 'aborted' };
  return new Promise((resolve) => {
    const kept = new KeptBytes();
    const settle = (outcome: BodyOutcome) => {
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      resolve(outcome);
    };
    const onData = (chunk: Buffer) => {
      const seenBytes = kept.length + chunk.length;
      if (seenBytes > maxBytes) return settle({ kind: 'too-large', seenBytes });
      kept.add(chunk);
      const restMs = onBytes?.(chunk.length) ?? 0;
      if (restMs < MIN_REST_MS) return;
      request.pause();
      setTimeout(() => request.resume(), restMs).unref();
    };
    const onEnd = () => settle({ kind: 'complete', bytes: kept.join() });
    const onAbort = () => settle({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}
