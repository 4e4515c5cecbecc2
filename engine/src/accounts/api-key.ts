import { createHash } from 'node:crypto';
import { HeadwaterError, randomToken } from '@headwater/shared';

const API_KEY_PREFIX = 'hw_';
const RANDOM_CHARS = 40;
const HINT_CHARS = 4;
/** A key that an operator made up: long enough not to be guessed, and fit for an HTTP header. */
const GIVEN_KEY = /^[\x21-\x7e]{20,256}$/;

export interface NewApiKey {
  /** Shown once, never stored. */
  apiKey: string;
  hash: Buffer;
  hint: string;
}

/** `hw_` and 40 random base-62 characters (238 bits). */
export function generateApiKey(): NewApiKey {
  return describeApiKey(API_KEY_PREFIX + randomToken(RANDOM_CHARS));
}

/**
 * A key from HEADWATER_API_KEY. Throws INVALID_REQUEST for one that could be guessed or not be
 * sent.
 */
export function acceptApiKey(apiKey: string): NewApiKey {
  if (GIVEN_KEY.test(apiKey)) return describeApiKey(apiKey);
  throw new HeadwaterError(
    'INVALID_REQUEST',
    'HEADWATER_API_KEY must have 20 to 256 printable ASCII characters, no spaces',
  );
}

function describeApiKey(apiKey: string): NewApiKey {
  return { apiKey, hash: hashApiKey(apiKey), hint: apiKey.slice(-HINT_CHARS) };
}

/** A plain hash is enough: there is nothing to guess in a random key. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
