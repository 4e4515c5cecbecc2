import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { CollectedBytes } from '../collected-bytes.ts';

/**
 * The body as text; UNSUPPORTED_ENCODING for a compressed one, which could be any number of bytes; PAYLOAD_TOO_LARGE as soon as
 * the announced or the received length goes over the limit. `onBytes` is told of each piece, and answers for how many ms to rest.
 */
export async function readBodyText(
  request: Request,
  maxBytes: number = LIMITS.maxApiBodyBytes,
  onBytes?: (count: number) => number,
): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw bodyTooLarge(maxBytes, announced);
  if (request.body === null) return '';
  const collected = new CollectedBytes(maxBytes);
  for await (const chunk of chunksOf(request.body)) {
    const bytes = collected.length + chunk.byteLength;
    if (bytes > maxBytes) throw bodyTooLarge(maxBytes, bytes);
    collected.add(chunk);
    const restMs = onBytes?.(chunk.byteLength) ?? 0;
    // The connection does not rest: node takes up to 128 KB of pieces meanwhile, which are a hundred megabytes where each is a byte.
    if (restMs > 0 && chunk.byteLength >= LIMITS.minBodyPieceBytes) await sleep(restMs, undefined, { ref: false });
  }
  // Read all the same, so that the next request can come over the same connection.
  const coding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new HeadwaterError('UNSUPPORTED_ENCODING', 'The request body has a content-encoding; send it without one');
  }
  return new TextDecoder().decode(collected.join());
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(throwCutShort);
      if (done) return;
      yield value;
    }
  } finally {
    // Cancelling a stream that ended or broke rejects; there is nothing left to release then.
    reader.cancel().catch(() => undefined);
  }
}

function throwCutShort(cause: unknown): never {
  throw new HeadwaterError('INVALID_REQUEST', 'The request body ended before it was complete', { cause });
}

/** `bytes`: what was announced, or has arrived. */
export function bodyTooLarge(maxBytes: number, bytes: number = maxBytes + 1): HeadwaterError {
  const name = maxBytes === LIMITS.maxHttpBodyBytes ? 'maxHttpBodyBytes' : 'maxApiBodyBytes';
  return new HeadwaterError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`, {
    limit: { name, value: maxBytes, used: bytes },
  });
}
