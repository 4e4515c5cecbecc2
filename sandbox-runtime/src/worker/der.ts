import { AskError } from './ask-error.ts';

/*
 * DER as far as keys use it: definite lengths, short tags, no constructed strings. Other forms are
 * refused, even if OpenSSL might read them. Values are views of the bytes, and a list of them has a
 * fixed maximum.
 */

export const [INTEGER, BIT_STRING, OCTET_STRING, OID, SEQUENCE] = [0x02, 0x03, 0x04, 0x06, 0x30];
const LONG_TAG = 0x1f;
/** An RSA key has 9 values, a certificate 10. */
const MAX_CHILDREN = 32;
const MAX_INTEGER_BYTES = 6;

export interface Value {
  tag: number;
  bytes: Buffer;
  /** With its tag and length. */
  whole: Buffer;
}

/** The value that starts at `at`, and its end. */
export function readValue(bytes: Buffer, at: number): { value: Value; end: number } {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined || (tag & LONG_TAG) === LONG_TAG) throw unreadable();
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthBytes;
  if (first === 0x80 || lengthBytes > 4 || start > bytes.length) throw unreadable();
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
  const end = start + length;
  if (end > bytes.length) throw unreadable();
  return { value: { tag, bytes: bytes.subarray(start, end), whole: bytes.subarray(at, end) }, end };
}

/** The values in a sequence. */
export function childrenOf(value: Value | undefined): Value[] {
  if (value?.tag !== SEQUENCE) throw unreadable();
  const children: Value[] = [];
  for (let at = 0; at < value.bytes.length; ) {
    if (children.length === MAX_CHILDREN) throw unreadable();
    const child = readValue(value.bytes, at);
    children.push(child.value);
    at = child.end;
  }
  return children;
}

export function oidOf(value: Value | undefined): string {
  if (value?.tag !== OID) throw unreadable();
  return value.bytes.toString('hex');
}

export function octetsOf(value: Value | undefined): Buffer {
  if (value?.tag !== OCTET_STRING) throw unreadable();
  return value.bytes;
}

/** A small number. */
export function numberOf(value: Value | undefined): number {
  if (value?.tag !== INTEGER || value.bytes.length === 0 || value.bytes.length > MAX_INTEGER_BYTES) throw unreadable();
  return value.bytes.readUIntBE(0, value.bytes.length);
}

/** How many bits a number of any size may have. */
export function bitsOf(value: Value | undefined): number {
  if (value?.tag !== INTEGER || value.bytes.length === 0) throw unreadable();
  // One byte is for the sign alone.
  return 8 * (value.bytes[0] === 0 ? value.bytes.length - 1 : value.bytes.length);
}

export function unreadable(): AskError {
  return new AskError('The form of the key cannot be read');
}
