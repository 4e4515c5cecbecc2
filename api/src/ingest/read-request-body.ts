import type { IncomingMessage } from 'node:http';

export type BodyOutcome = { kind: 'complete'; bytes: Buffer } | { kind: 'too-large' } | { kind: 'aborted' };

const EMPTY: BodyOutcome = { kind: 'complete', bytes: Buffer.alloc(0) };

/** Reads at most `maxBytes`; an announced length over it is refused before the first byte. `onBytes` is told of each part, and answers for how many ms to rest. */
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
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (outcome: BodyOutcome) => {
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      resolve(outcome);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return settle({ kind: 'too-large' });
      chunks.push(chunk);
      const restMs = onBytes?.(chunk.length) ?? 0;
      if (restMs > 0) {
        request.pause();
        setTimeout(() => request.resume(), restMs).unref();
      }
    };
    const onEnd = () => settle({ kind: 'complete', bytes: joinChunks(chunks) });
    const onAbort = () => settle({ kind: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

function joinChunks(chunks: Buffer[]): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}
