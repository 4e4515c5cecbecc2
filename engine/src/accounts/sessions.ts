import type { Sessions } from '../contract/engine.ts';
import { SealError, type Sealer } from '../secrets/seal.ts';

/** Sealed texts are bound to their account; a session is opened before its account is known. */
const CONTEXT = 'session';

interface Payload {
  key: string;
  sinceMs: number;
}

/**
 * Sessions without a row: the token is the API key, sealed with the master key, and the moment of
 * its making. Each request opens it and is authenticated with the key, so a session ends with its
 * key, on every node, within seconds.
 */
export function createSessions(options: { sealer: Pick<Sealer, 'seal' | 'open'>; maxAgeMs: number }): Sessions {
  const { sealer, maxAgeMs } = options;
  return {
    begin(apiKey) {
      const payload: Payload = { key: apiKey, sinceMs: Date.now() };
      return { token: sealer.seal(CONTEXT, JSON.stringify(payload)), expiresAt: new Date(payload.sinceMs + maxAgeMs) };
    },
    keyOf(token) {
      const payload = open(sealer, token);
      return payload !== undefined && payload.sinceMs + maxAgeMs > Date.now() ? payload.key : undefined;
    },
  };
}

function open(sealer: Pick<Sealer, 'open'>, token: string): Payload | undefined {
  try {
    return JSON.parse(sealer.open(CONTEXT, token)) as Payload;
  } catch (error) {
    // Made up, changed, or sealed with a key that this node has no longer: the user signs in again.
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
