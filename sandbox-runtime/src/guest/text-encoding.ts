import { joinBytes, toBytes } from './blob.ts';
import { theBridge } from './bridge-slot.ts';
import { toText } from './intrinsics.ts';
import { askText } from './ask-text.ts';
import { codedError, nativeError, invalidArgument, requireString } from './node/errors.ts';
import { decodeUtf8, encodeUtf8, exact } from './utf8.ts';
import { incompleteTail } from './utf8-tail.ts';
import { asInterface, toDictionary, toUsv } from './web-idl.ts';

const EMPTY = new Uint8Array(0);

/** Encodings whose only state between chunks is the bytes of an incomplete character. */
const SIMPLE = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'];

export class GuestTextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text: unknown = ''): Uint8Array<ArrayBuffer> {
    return encodeUtf8(theBridge(), toUsv(text));
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    requireString('src', text);
    if (!(target instanceof Uint8Array)) throw invalidArgument('dest', 'an instance of Uint8Array', target);
    const source = text;
    // No more than fits can be needed: each UTF-16 unit is at least one byte.
    const bytes = encodeUtf8(theBridge(), source.slice(0, target.length).toWellFormed());
    let written = Math.min(bytes.length, target.length);
    // Never half a character.
    while (written < bytes.length && written > 0 && ((bytes[written] as number) & 0xc0) === 0x80) written -= 1;
    target.set(bytes.subarray(0, written));
    return { read: unitsOf(bytes.subarray(0, written)), written };
  }
}
asInterface(GuestTextEncoder, 'TextEncoder');

/** UTF-16 units that some whole characters in UTF-8 stand for. */
function unitsOf(bytes: Uint8Array): number {
  let units = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  return units;
}

/**
 * `TextDecoder`: UTF-8 of short ASCII text in the isolate, everything else by the process's own
 * decoder.
 */
export class GuestTextDecoder {
  readonly #encoding: string;
  readonly #fatal: boolean;
  readonly #ignoreBom: boolean;
  /**
   * Bytes of the stream that are not decoded yet; for encodings with more state, all of its bytes.
   */
  #kept: Uint8Array<ArrayBuffer> = EMPTY;
  #given = 0;
  #begun = false;

  constructor(label: unknown = 'utf-8', options?: { fatal?: boolean; ignoreBOM?: boolean }) {
    const { fatal, ignoreBOM } = toDictionary(options);
    this.#encoding = readLabel(toText(label));
    this.#fatal = Boolean(fatal);
    this.#ignoreBom = Boolean(ignoreBOM);
  }

  get encoding(): string {
    return this.#encoding;
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBom;
  }

  decode(input?: unknown, options?: { stream?: boolean }): string {
    if (input !== undefined && !(input instanceof ArrayBuffer) && !ArrayBuffer.isView(input))
      throw nativeError(
        'ERR_INVALID_ARG_TYPE',
        'The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.',
      );
    const stream = Boolean(toDictionary(options)['stream']);
    const chunk = input === undefined ? EMPTY : toBytes(theBridge(), input);
    const bytes = this.#kept.length === 0 ? chunk : joinBytes([this.#kept, chunk]);
    try {
      return SIMPLE.includes(this.#encoding) ? this.#decodeSimple(bytes, stream) : this.#decodeAgain(bytes, stream);
    } catch (error) {
      this.#reset();
      throw error;
    }
  }

  #decodeSimple(bytes: Uint8Array<ArrayBuffer>, stream: boolean): string {
    const end = bytes.length - (stream ? incompleteTail(bytes, this.#encoding) : 0);
    const text = this.#ask(bytes.subarray(0, end), false);
    this.#kept = bytes.slice(end);
    const atStart = !this.#begun;
    this.#begun = stream && (this.#begun || text.length > 0);
    const strip = atStart && !this.#ignoreBom && this.#encoding !== 'windows-1252' && text.charCodeAt(0) === 0xfeff;
    return strip ? text.slice(1) : text;
  }

  // No decoder state crosses the bridge: the stream is decoded from its start, and earlier output
  // is cut off.
  #decodeAgain(bytes: Uint8Array<ArrayBuffer>, stream: boolean): string {
    const text = this.#ask(bytes, stream);
    const fresh = text.slice(this.#given);
    if (stream) {
      this.#kept = bytes;
      this.#given = text.length;
    } else this.#reset();
    return fresh;
  }

  #ask(bytes: Uint8Array, stream: boolean): string {
    if (this.#encoding === 'utf-8' && !this.#fatal) return decodeUtf8(theBridge(), bytes);
    const [label, fatal] = [this.#encoding, this.#fatal];
    return askText({ kind: 'decode-text', label, fatal, stream, data: exact(bytes) });
  }

  #reset(): void {
    this.#kept = EMPTY;
    this.#given = 0;
    this.#begun = false;
  }
}
asInterface(GuestTextDecoder, 'TextDecoder');

function readLabel(label: string): string {
  const name = label.toLowerCase();
  if (name === 'utf-8' || name === 'utf8') return 'utf-8';
  try {
    return askText({ kind: 'encoding-name', label });
  } catch {
    // The process's message is about its own decoder, but the standard requires this error.
    throw codedError(
      'ERR_ENCODING_NOT_SUPPORTED',
      `The "${label.slice(0, 100)}" encoding is not supported`,
      RangeError,
    );
  }
}
