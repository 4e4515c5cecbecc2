import { createHash, timingSafeEqual } from 'node:crypto';
import { type Engine, type Principal, readSessionBearer } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { bearerKey } from '../bearer-key.ts';

/** The key that was sent; throws UNAUTHORIZED if it is missing or cannot be a key. */
export function requireKey(header: string | undefined): string {
  const key = bearerKey(header);
  if (key === undefined) throw unauthorized('Send your API key as `Authorization: Bearer <key>`');
  // Longer than any key is: not worth hashing.
  if (key.length > LIMITS.maxIdChars) throw unauthorized('The API key is unknown or revoked');
  return key;
}

export async function authenticateKey(engine: Engine, key: string, adminKey?: string): Promise<Principal> {
  const who = await engine.accounts.authenticate(key);
  if (who === undefined) throw unauthorized(isAdminKey(adminKey, key) ? OPERATORS_KEY : unknownMessage(key));
  return who;
}

const OPERATORS_KEY = "This is the operator's key, which has no account: use a key of the account";

/** A person has no API key to look after. */
const unknownMessage = (key: string) =>
  readSessionBearer(key) === undefined
    ? 'The API key is unknown or revoked'
    : 'The session has ended, or its person is no member of this account: sign in again';

/**
 * Returns for the operator's key only. FORBIDDEN for the key of an account, UNAUTHORIZED for
 * anything else.
 */
export async function requireAdmin(engine: Engine, adminKey: string | undefined, key: string): Promise<void> {
  if (isAdminKey(adminKey, key)) return;
  if ((await engine.accounts.authenticate(key)) !== undefined) {
    throw new HeadwaterError('FORBIDDEN', "Only the operator's key (HEADWATER_ADMIN_KEY) may do that");
  }
  throw unauthorized('The admin key is wrong');
}

export function isAdminKey(adminKey: string | undefined, key: string): boolean {
  return adminKey !== undefined && sameSecret(key, adminKey);
}

// Hash first, so that the comparison takes the same time for all lengths and differences.
function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

function unauthorized(message: string): HeadwaterError {
  return new HeadwaterError('UNAUTHORIZED', message);
}
