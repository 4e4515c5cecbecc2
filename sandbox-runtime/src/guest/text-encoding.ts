import type { Bridge } from './bridge.ts';
import { toBytes } from './blob.ts';
import { decodeUtf8, encodeUtf8 } from './utf8.ts';

const UTF8 = ['utf-8', 'utf8', 'unicode-1-1-utf-8'];
const LATIN1 = ['latin1', 'iso-8859-1', 'ascii', 'us-ascii', 'windows-1252'];
const UTF16 = ['utf-16', 'utf-16le', 'ucs-2'];

/** TextEncoder and TextDecoder for UTF-8; the decoder also reads UTF-16LE and Latin-1. */
export function makeTextClasses(bridge: Bridge): Record<'TextEncoder' | 'TextDecoder', unknown> {
  class TextEncoder {
    readonly encoding = 'utf-8';

    encode(text: unknown = ''): Uint8Array {
      return encodeUtf8(bridge, String(text));
    }

    encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
      const bytes = encodeUtf8(bridge, text);
      let written = Math.min(bytes.length, target.length);
      // Never half a character.
      while (written < bytes.length && written > 0 && ((bytes[written] as number) & 0xc0) === 0x80) written -= 1;
      target.set(bytes.subarray(0, written));
      return { read: decodeUtf8(bridge, bytes.subarray(0, written)).length, written };
    }
  }

  class TextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    #rest: Uint8Array = new Uint8Array(0);

    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.encoding = readLabel(String(label));
      this.fatal = options.fatal === true;
      this.ignoreBOM = options.ignoreBOM === true;
    }

    decode(input?: unknown, options: { stream?: boolean } = {}): string {
      const given = input === undefined ? new Uint8Array(0) : toBytes(bridge, input);
      const bytes = this.#rest.length === 0 ? given : joinTwo(this.#rest, given);
      const end = options.stream === true ? wholeEnd(bytes, this.encoding) : bytes.length;
      this.#rest = bytes.slice(end);
      const text = this.#decode(bytes.subarray(0, end));
      return !this.ignoreBOM && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    }

    #decode(bytes: Uint8Array): string {
      if (this.encoding === 'windows-1252') return fromUnits(bytes, 1);
      if (this.encoding === 'utf-16le') return fromUnits(bytes, 2);
      const text = decodeUtf8(bridge, bytes);
      if (this.fatal && text.includes('\ufffd') && !sameBytes(encodeUtf8(bridge, text), bytes)) {
        throw new TypeError('The encoded data was not valid for encoding utf-8');
      }
      return text;
    }
  }
  return { TextEncoder, TextDecoder };
}

function readLabel(label: string): string {
  const name = label.trim().toLowerCase();
  if (UTF8.includes(name)) return 'utf-8';
  if (LATIN1.includes(name)) return 'windows-1252';
  if (UTF16.includes(name)) return 'utf-16le';
  throw new RangeError(`The encoding '${label}' is not supported`);
}

function fromUnits(bytes: Uint8Array, width: 1 | 2): string {
  const parts: string[] = [];
  for (let at = 0; at + width <= bytes.length; at += 8192) {
    const units: number[] = [];
    const end = Math.min(bytes.length, at + 8192);
    for (let i = at; i + width <= end; i += width)
      units.push(width === 1 ? (bytes[i] as number) : (bytes[i] as number) | ((bytes[i + 1] as number) << 8));
    parts.push(String.fromCharCode(...units));
  }
  return parts.join('');
}

/** Where the last whole character ends: what follows waits for the next chunk of a stream. */
function wholeEnd(bytes: Uint8Array, encoding: string): number {
  if (encoding === 'windows-1252') return bytes.length;
  if (encoding === 'utf-16le') return bytes.length - (bytes.length % 2);
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function joinTwo(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function sameBytes(first: Uint8Array, second: Uint8Array): boolean {
  return first.length === second.length && first.every((byte, index) => byte === second[index]);
}
