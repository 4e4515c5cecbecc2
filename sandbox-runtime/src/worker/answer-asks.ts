import { createHash, createHmac, getHashes, randomBytes } from 'node:crypto';
import { ASK } from '../bridge/isolate-codes.ts';
import { answerNodeCrypto } from './ask-crypto.ts';
import { AskError, describeAskError, requireWithin } from './ask-error.ts';
import { answerZlib } from './ask-zlib.ts';
import { answerWebAsk } from './answer-web-asks.ts';

const MAX_RANDOM_BYTES = 65_536;
const HASHES = new Set(getHashes().map((name) => name.toLowerCase()));

/**
 * Answers what a guest asks for while it waits. Never throws: an error that crosses into an isolate
 * would carry the stack and the paths of this process. Text where bytes are expected is the reason,
 * and the guest throws it.
 */
export function answerAsk(kind: unknown, a: unknown, b: unknown, c: unknown): Uint8Array | string {
  try {
    switch (kind) {
      case ASK.random:
        return random(a);
      case ASK.hash:
        return own(createHash(hashName(a)).update(data(b)).digest());
      case ASK.hmac:
        return own(createHmac(hashName(a), data(b)).update(data(c)).digest());
      case ASK.decodeUtf8:
        return decodeUtf8(data(b));
      case ASK.encodeUtf8:
        return own(Buffer.from(text(a), 'utf8'));
      case ASK.zlib:
        return answerZlib(a, data(b));
      case ASK.nodeCrypto:
        return answerNodeCrypto(a, optional(b), optional(c));
      default:
        return answerWebAsk(kind, a, b) ?? 'This is not supported';
    }
  } catch (error) {
    return describeAskError(error);
  }
}

function random(size: unknown): Uint8Array {
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0 || size > MAX_RANDOM_BYTES) {
    throw new AskError(`At most ${MAX_RANDOM_BYTES} random bytes can be made at once`);
  }
  return own(randomBytes(size));
}

/** Of a view no more than what it shows: the buffer behind it may be of any size. */
function decodeUtf8({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

function hashName(name: unknown): string {
  if (typeof name !== 'string' || !HASHES.has(name)) throw new AskError('Digest method not supported');
  return name;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new AskError('The data must be text');
  return value;
}

function data(value: unknown): Uint8Array<ArrayBuffer> {
  if (!(value instanceof Uint8Array)) throw new AskError('The data must be bytes');
  requireWithin('maxProcessedBytes', value.byteLength);
  return value as Uint8Array<ArrayBuffer>;
}

function optional(value: unknown): Uint8Array<ArrayBuffer> {
  return value === undefined ? new Uint8Array(0) : data(value);
}

// Small buffers of Node share one memory block, and the whole block would be copied into the
// isolate.
function own(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer);
}
