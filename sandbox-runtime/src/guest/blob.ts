import type { Bridge } from './bridge.ts';
import { theBridge } from './bridge-slot.ts';
import { now, toText } from './intrinsics.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';
import { invalidArgument, invalidValue, nativeError } from './node/errors.ts';
import { asInterface, requireNamed, toDictionary, toInteger, toRounded, toUsv } from './web-idl.ts';
import { type GuestStream, streamOf } from './web-streams.ts';

const PLAIN = /^[\x20-\x7e]*$/;

let bytesInside: (blob: GuestBlob) => Uint8Array<ArrayBuffer>;

/** `Blob` of the File API. The bytes are held in memory. */
export class GuestBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #type: string;

  constructor(parts?: unknown, options?: { type?: string; endings?: string }) {
    const { endings, type } = readOptions(options);
    this.#bytes = joinBytes(readParts(parts).map((part) => bytesOfPart(part, endings === 'native')));
    this.#type = PLAIN.test(type) ? type.toLowerCase() : '';
  }

  static {
    bytesInside = (blob) => blob.#bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get type(): string {
    return this.#type;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice();
  }

  async text(): Promise<string> {
    const text = decodeUtf8(theBridge(), this.#bytes);
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  stream(): GuestStream {
    return streamOf(() => this.#bytes.slice()).stream;
  }

  slice(start?: number, end?: number, type?: string): GuestBlob {
    const size = this.#bytes.length;
    const from = start === undefined ? 0 : toRounded(start);
    const to = end === undefined ? size : toRounded(end);
    return new GuestBlob([this.#bytes.slice(from, to)], { type: type === undefined ? '' : toText(type) });
  }
}
asInterface(GuestBlob, 'Blob');

export class GuestFile extends GuestBlob {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(parts: unknown, name: string, options?: { type?: string; endings?: string; lastModified?: number }) {
    requireNamed(arguments.length, 'fileBits', 'fileName');
    super(parts, options);
    this.#name = toUsv(name);
    const { lastModified } = toDictionary(options, refuseOptions);
    this.#lastModified = lastModified === undefined ? now() : toInteger(lastModified);
  }

  get name(): string {
    return this.#name;
  }

  get lastModified(): number {
    return this.#lastModified;
  }

  get webkitRelativePath(): string {
    return '';
  }
}
asInterface(GuestFile, 'File');

/** The bytes of a blob, without the promise and without a copy. */
export function blobBytes(blob: GuestBlob): Uint8Array<ArrayBuffer> {
  return bytesInside(blob);
}

function readParts(parts: unknown): unknown[] {
  if (parts === undefined) return [];
  const iterator =
    typeof parts === 'object' && parts !== null ? (parts as Iterable<unknown>)[Symbol.iterator] : undefined;
  if (typeof iterator !== 'function')
    throw nativeError('ERR_INVALID_ARG_TYPE', 'Value cannot be converted to sequence.');
  // Strings are made of the parts while the list is read, before anything else is done with them.
  return Array.from(parts as Iterable<unknown>, (part, index) => (isBinary(part) ? part : partText(part, index)));
}

function partText(part: unknown, index: number): string {
  if (typeof part === 'symbol')
    throw nativeError('ERR_INVALID_ARG_TYPE', `Value[${index}] is a Symbol and cannot be converted to a string.`);
  return toUsv(part);
}

function refuseOptions(options: unknown): Error {
  return invalidArgument('options', 'a dictionary', options);
}

function readOptions(options: unknown): { endings: string; type: string } {
  const read = toDictionary(options, refuseOptions);
  const endings = read['endings'] === undefined ? 'transparent' : toText(read['endings']);
  if (endings !== 'transparent' && endings !== 'native') throw invalidValue('options.endings', endings);
  return { endings, type: read['type'] === undefined ? '' : toUsv(read['type']) };
}

function isBinary(part: unknown): boolean {
  return part instanceof GuestBlob || isBuffer(part) || ArrayBuffer.isView(part);
}

function bytesOfPart(part: unknown, nativeEndings: boolean): Uint8Array {
  if (part instanceof GuestBlob) return bytesInside(part);
  return toBytes(theBridge(), typeof part === 'string' && nativeEndings ? part.replace(/\r\n?/g, '\n') : part);
}

function isBuffer(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer;
}

/** A copy of the bytes of a buffer or view; anything else is taken as text. */
export function toBytes(bridge: Bridge, part: unknown): Uint8Array<ArrayBuffer> {
  if (isBuffer(part)) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part))
    return new Uint8Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength).slice();
  return encodeUtf8(bridge, toText(part));
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
