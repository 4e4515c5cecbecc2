import { LIMITS } from '@headwater/shared';

/** Makes a cursor from the last key of a page. */
export function encodeKeyCursor(key: string): string {
  return Buffer.from(key).toString('base64url');
}

/** Undefined for an invalid cursor. */
export function decodeKeyCursor(cursor: string): string | undefined {
  if (!/^[\w-]+$/.test(cursor)) return undefined;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  return key.includes('\0') || Buffer.byteLength(key) > LIMITS.maxDataStoreKeyBytes ? undefined : key;
}
