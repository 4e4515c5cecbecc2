import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { readRequestBody } from '../read-request-body.ts';

/**
 * Reads the body. Throws UNSUPPORTED_ENCODING for a compressed body, which has no known size.
 * Throws PAYLOAD_TOO_LARGE as soon as the announced or received length exceeds the limit. Takes
 * Node's request: the stream of a web Request would not slow down a body in one-byte pieces.
 * `onBytes`: see readRequestBody.
 */
export async function readBodyBytes(
  request: IncomingMessage,
  maxBytes: number,
  onBytes?: (count: number) => number,
): Promise<Buffer> {
  const body = await readRequestBody(request, maxBytes, onBytes);
  if (body.kind === 'too-large') throw bodyTooLarge(maxBytes, body.seenBytes);
  if (body.kind === 'aborted')
    throw new HeadwaterError('INVALID_REQUEST', 'The request body ended before it was complete');
  // The body is read first, so that the connection can take the next request.
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new HeadwaterError('UNSUPPORTED_ENCODING', 'The request body has a content-encoding; send it without one');
  }
  return body.bytes;
}

/**
 * Throws for invalid UTF-8: decoding would store U+FFFD as if the client had sent it. Drops a byte
 * order mark.
 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HeadwaterError('INVALID_REQUEST', 'The request body is not valid UTF-8');
  return new TextDecoder().decode(bytes);
}

/** `bytes`: announced or received. Default: one more than the limit. */
export function bodyTooLarge(maxBytes: number, bytes: number = maxBytes + 1): HeadwaterError {
  const name = maxBytes === LIMITS.maxHttpBodyBytes ? 'maxHttpBodyBytes' : 'maxApiBodyBytes';
  return new HeadwaterError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`, {
    limit: { name, value: maxBytes, used: bytes },
  });
}
