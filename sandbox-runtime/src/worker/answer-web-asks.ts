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
import type { GuestAsk } from '../bridge/messages.ts';
import { AskError } from './ask-error.ts';
import { easedLevel, inflateWithin } from './ask-zlib.ts';

const MAX_LABEL_CHARS = 100;

type AskOf<Kind extends GuestAsk['kind']> = Extract<GuestAsk, { kind: Kind }>;

export function decodeText({ label, fatal, stream, data }: AskOf<'decode-text'>): string {
  return new TextDecoder(label, { fatal, ignoreBOM: true }).decode(data, { stream });
}

export function encodingName(label: string): string {
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

export function compress({ order, data }: AskOf<'compress'>): Uint8Array {
  const isPart = order.startsWith('p');
  const name = isPart ? `d${order.slice(1)}` : order;
  const work = Object.hasOwn(WORK, name) ? WORK[name] : undefined;
  if (work === undefined) throw new AskError('This is not supported');
  // Trailing data is an error in this standard. The option is the one that Node's own web streams
  // use.
  const eased = order.startsWith('c') ? easedLevel('deflate', {}, data.byteLength) : {};
  const options: ZlibOptions = { maxOutputLength: LIMITS.maxInflatedBytes, rejectGarbageAfterEnd: true, ...eased };
  const given = isPart ? { ...options, finishFlush: constants.Z_SYNC_FLUSH } : options;
  return new Uint8Array(inflateWithin(() => work(data, given)));
}
