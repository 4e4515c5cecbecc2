import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { readRequestBody } from '../read-request-body.ts';

/**
 * The body; UNSUPPORTED_ENCODING for a compressed one, which could be any number of bytes;
 * PAYLOAD_TOO_LARGE as soon as the announced or the received length goes over the limit. Node's
 * request and not the one made of it, whose stream would take a body in pieces of a byte as fast as
 * any other. `onBytes`: see readRequestBody.
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
  // Read all the same, so that the next request can come over the same connection.
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

/** `bytes`: what was announced, or has arrived. Default: at least one too many. */
export function bodyTooLarge(maxBytes: number, bytes: number = maxBytes + 1): HeadwaterError {
  const name = maxBytes === LIMITS.maxHttpBodyBytes ? 'maxHttpBodyBytes' : 'maxApiBodyBytes';
  return new HeadwaterError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes`, {
    limit: { name, value: maxBytes, used: bytes },
  });
}
