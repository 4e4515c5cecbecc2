import { createHash } from 'node:crypto';
import { randomToken } from '@headwater/shared';

const PREFIX = 'hw_session_';
const RANDOM_CHARS = 40;
const SESSION = /^(hw_session_[0-9A-Za-z]{40})(?:\.(o_[0-9A-Za-z]{1,64}))?$/;

/** The bearer of a member’s requests: a session, and for which of the accounts. */
export interface SessionBearer {
  token: string;
  /** Absent: the one that the member belongs to for longest. */
  accountId?: string;
}

export function generateSessionToken(): string {
  return PREFIX + randomToken(RANDOM_CHARS);
}

/** Undefined for what is an API key, or nothing. */
export function readSessionBearer(bearer: string): SessionBearer | undefined {
  const [, token, accountId] = SESSION.exec(bearer) ?? [];
  if (token === undefined) return undefined;
  return { token, ...(accountId === undefined ? {} : { accountId }) };
}

/** A plain hash is enough for what is random. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
