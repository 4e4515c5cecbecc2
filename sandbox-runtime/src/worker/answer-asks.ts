import { createHash, createHmac, getHashes, randomBytes } from 'node:crypto';
import { answerNodeCrypto } from './ask-crypto.ts';
import { AskError, describeAskError } from './ask-error.ts';
import { answerUrl } from './ask-url.ts';
import { answerZlib } from './ask-zlib.ts';
import { compress, decodeText, encodingName } from './answer-web-asks.ts';
import { decodeAsk, type RawAsk, type WorkedAsk } from './isolate-codec.ts';

const MAX_RANDOM_BYTES = 65_536;
const HASHES = new Set(getHashes().map((name) => name.toLowerCase()));

/**
 * Answers a guest's synchronous request. Never throws: an error that crosses into an isolate would
 * carry this process's stack and paths. Text instead of bytes is the error's reason, which the
 * guest throws.
 */
export function answerAsk(raw: RawAsk): Uint8Array | string {
  try {
    return answer(decodeAsk(raw));
  } catch (error) {
    return describeAskError(error);
  }
}

function answer(ask: WorkedAsk): Uint8Array | string {
  switch (ask.kind) {
    case 'random':
      return random(ask.bytes);
    case 'hash':
      return own(createHash(hashName(ask.algorithm)).update(ask.data).digest());
    case 'hmac':
      return own(createHmac(hashName(ask.algorithm), ask.key).update(ask.data).digest());
    case 'decode-utf8':
      return decodeUtf8(ask.data);
    case 'encode-utf8':
      return own(Buffer.from(ask.text, 'utf8'));
    case 'decode-text':
      return `v${decodeText(ask)}`;
    case 'encoding-name':
      return `v${encodingName(ask.label)}`;
    case 'compress':
      return compress(ask);
    case 'url':
      return `v${answerUrl(ask.order)}`;
    case 'zlib':
      return answerZlib(ask.head, ask.data);
    case 'node-crypto':
      return answerNodeCrypto(ask.head, ask.data, ask.second);
  }
}

function random(bytes: number): Uint8Array {
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > MAX_RANDOM_BYTES) {
    throw new AskError(`At most ${MAX_RANDOM_BYTES} random bytes can be made at once`);
  }
  return own(randomBytes(bytes));
}

/** Reads only the bytes of the view: its buffer may be of any size. */
function decodeUtf8({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

function hashName(name: string): string {
  if (!HASHES.has(name)) throw new AskError('Digest method not supported');
  return name;
}

// Small buffers of Node share one memory block, and the whole block would be copied into the
// isolate.
function own(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer);
}
