import {
  constants,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';
import { LIMITS } from '@headwater/shared';
import { ASK } from '../bridge/isolate-codes.ts';
import { AskError, requireWithin } from './ask-error.ts';
import { easedLevel, inflateWithin } from './ask-zlib.ts';
import { answerUrl } from './ask-url.ts';

const MAX_LABEL_CHARS = 100;

/**
 * Answers what the guest's web platform asks for while it waits. Text is `v` and the value, bytes
 * are themselves. Throws what went wrong; undefined for a question that is not of the web platform.
 */
export function answerWebAsk(kind: unknown, a: unknown, b: unknown): Uint8Array | string | undefined {
  switch (kind) {
    case ASK.decodeText:
      return `v${decodeText(text(a), bytes(b))}`;
    case ASK.encodingName:
      return `v${encodingName(text(a))}`;
    case ASK.compress:
      return compress(text(a), bytes(b));
    case ASK.url:
      return `v${answerUrl(text(a))}`;
    default:
      return undefined;
  }
}

/** `head`: `f` for fatal or `-`, `s` for a stream or `-`, the label. */
function decodeText(head: string, data: Uint8Array): string {
  const decoder = new TextDecoder(head.slice(2), { fatal: head.startsWith('f'), ignoreBOM: true });
  return decoder.decode(data, { stream: head[1] === 's' });
}

function encodingName(label: string): string {
  if (label.length > MAX_LABEL_CHARS) throw new AskError('The label is too long');
  return new TextDecoder(label).encoding;
}

type Work = (data: Uint8Array, options: ZlibOptions) => Uint8Array;

const WORK: Readonly<Record<string, Work>> = {
  cgzip: gzipSync,
  cdeflate: deflateSync,
  'cdeflate-raw': deflateRawSync,
  dgzip: gunzipSync,
  ddeflate: inflateSync,
  'ddeflate-raw': inflateRawSync,
};

/**
 * `order`: `c` to compress, `d` to decompress, `p` to decompress what is there of data that goes
 * on; then the format.
 */
function compress(order: string, data: Uint8Array): Uint8Array {
  const isPart = order.startsWith('p');
  const name = isPart ? `d${order.slice(1)}` : order;
  const work = Object.hasOwn(WORK, name) ? WORK[name] : undefined;
  if (work === undefined) throw new AskError('This is not supported');
  // What follows the compressed data is a fault in this standard. The option is Node's own for its
  // own streams.
  const eased = order.startsWith('c') ? easedLevel('deflate', {}, data.byteLength) : {};
  const options: ZlibOptions = { maxOutputLength: LIMITS.maxInflatedBytes, rejectGarbageAfterEnd: true, ...eased };
  const given = isPart ? { ...options, finishFlush: constants.Z_SYNC_FLUSH } : options;
  return new Uint8Array(inflateWithin(() => work(data, given)));
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new AskError('The question must be text');
  return value;
}

function bytes(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new AskError('The data must be bytes');
  requireWithin('maxProcessedBytes', value.byteLength);
  return value;
}
