/**
 * How many bytes at the end begin a character that the next chunk of a stream may complete. What
 * can no longer become one is not counted: it is decoded, as a fault.
 */
export function incompleteTail(bytes: Uint8Array, encoding: string): number {
  if (encoding === 'utf-8') return utf8Tail(bytes);
  if (encoding === 'windows-1252') return 0;
  const odd = bytes.length % 2;
  const high = bytes[bytes.length - odd - (encoding === 'utf-16le' ? 1 : 2)];
  // The first half of a surrogate pair waits for the second.
  return high !== undefined && high >= 0xd8 && high < 0xdc ? odd + 2 : odd;
}

function utf8Tail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    return isOpen(bytes.subarray(bytes.length - back)) ? back : 0;
  }
  return 0;
}

/**
 * True for a first byte with fewer continuations than it needs, the second byte being one that can
 * follow it.
 */
function isOpen(tail: Uint8Array): boolean {
  const first = tail[0] as number;
  const second = tail[1];
  const size = first >= 0xf5 || first < 0xc2 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (size <= tail.length) return false;
  if (second === undefined) return true;
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second < 0xa0;
  if (first === 0xf0) return second >= 0x90;
  return first === 0xf4 ? second < 0x90 : true;
}
