import { createHash, randomBytes } from 'node:crypto';

/**
 * State that a flow needs when the browser comes back. Sealed: an attacker with the verifier can
 * use the code.
 */
export interface OAuthRequest {
  client: { owner: string; clientId: string };
  /** The one that the provider was told: it has to be told the same again. */
  redirectUri: string;
  fields: Record<string, string>;
  scopes: string[];
  verifier?: string;
  name?: string;
  redirect?: string;
  connectedAccountId?: string;
}

const RANDOM_BYTES = 32;

/**
 * 256 random bits in the characters that every URL takes: `state`, and the verifier of RFC 7636.
 */
export function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

export function hashState(state: string): Buffer {
  return createHash('sha256').update('headwater/oauth-state').update(state).digest();
}

/** RFC 7636, 4.2. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
