import { LOG_CUT_MARK, CUT_MARK_BYTES } from '../bridge/log-cut.ts';
import type { Bridge } from './bridge.ts';
import { sliceText } from './intrinsics.ts';
import { throwLimitOf } from './throw-refused.ts';

/** Bytes of a string in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2;
      i += 1;
    } else bytes += 2;
  }
  return bytes;
}

/**
 * Length in UTF-8. For a string of more than `enough` characters, returns its character count
 * without reading it all.
 */
export function utf8LengthUpTo(text: string, enough: number): number {
  return text.length > enough ? text.length : utf8Length(text);
}

/**
 * Cuts a string so that it takes at most `maxBytes` in UTF-8 with the words at its end that say so.
 */
export function cutUtf8(text: string, maxBytes: number): string {
  const most = maxBytes - CUT_MARK_BYTES;
  let end = Math.min(text.length, most);
  while (end > 0 && utf8Length(sliceText(text, 0, end)) > most) end = Math.floor(end * 0.9);
  if (isLowSurrogate(text.charCodeAt(end))) end -= 1;
  return sliceText(text, 0, end) + LOG_CUT_MARK;
}

/** Above this size the process is faster than JavaScript in the isolate, copies included. */
const NATIVE_BYTES = 4096;
const CHUNK = 8192;

export function encodeUtf8(bridge: Bridge, text: string): Uint8Array<ArrayBuffer> {
  if (text.length > NATIVE_BYTES) return bridge.ask({ kind: 'encode-utf8', text }) as Uint8Array<ArrayBuffer>;
  const out = new Uint8Array(utf8Length(text));
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xe000) {
      const low = text.charCodeAt(i + 1);
      if (code < 0xdc00 && isLowSurrogate(low)) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i += 1;
      } else code = 0xfffd;
    }
    at = writeCodePoint(out, at, code);
  }
  return out;
}

function writeCodePoint(out: Uint8Array, start: number, code: number): number {
  let at = start;
  if (code < 0x80) out[at++] = code;
  else {
    if (code < 0x800) out[at++] = 0xc0 | (code >> 6);
    else {
      if (code < 0x10000) out[at++] = 0xe0 | (code >> 12);
      else {
        out[at++] = 0xf0 | (code >> 18);
        out[at++] = 0x80 | ((code >> 12) & 63);
      }
      out[at++] = 0x80 | ((code >> 6) & 63);
    }
    out[at++] = 0x80 | (code & 63);
  }
  return at;
}

/** Not fatal: invalid UTF-8 becomes U+FFFD. */
export function decodeUtf8(bridge: Bridge, bytes: Uint8Array): string {
  if (bytes.length > CHUNK || !isAscii(bytes)) {
    const text = bridge.ask({ kind: 'decode-utf8', data: exact(bytes) }) as string;
    // A character has at most three bytes. A shorter text is therefore the error instead of the
    // result.
    if (text.length * 3 < bytes.length) throwLimitOf(text);
    return text;
  }
  return String.fromCharCode(...bytes);
}

/** A copy that owns its buffer: crossing the bridge takes the whole buffer behind a view along. */
export function exact(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function isAscii(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] as number) > 0x7f) return false;
  return true;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
