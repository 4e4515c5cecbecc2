import type { Sessions } from '../contract/index.ts';
import { type Sealer, SealError } from '../secrets/index.ts';

/** Sealed texts are bound to their account; these are opened before their account is known. */
const SESSION = 'session';
const STREAM = 'stream token';

interface Session {
  key: string;
  sinceMs: number;
}

interface StreamToken {
  key: string;
  untilMs: number;
  emitterId?: string;
}

/**
 * Sessions without a row: the token is the API key, sealed with the master key, and the moment of
 * its making. Each request opens it and is authenticated with the key, so a session ends with its
 * key, on every node, within seconds. Tokens for streams are made in the same way.
 */
export function createSessions(options: { sealer: Pick<Sealer, 'seal' | 'open'>; maxAgeMs: number }): Sessions {
  const { sealer, maxAgeMs } = options;
  return {
    begin(apiKey) {
      const payload: Session = { key: apiKey, sinceMs: Date.now() };
      return { token: sealer.seal(SESSION, JSON.stringify(payload)), expiresAt: new Date(payload.sinceMs + maxAgeMs) };
    },
    keyOf(token) {
      const payload = open(sealer, SESSION, token) as Session | undefined;
      return payload !== undefined && payload.sinceMs + maxAgeMs > Date.now() ? payload.key : undefined;
    },
    makeStreamToken(apiKey, { expiresAt, emitterId }) {
      const payload: StreamToken = { key: apiKey, untilMs: expiresAt.getTime(), ...(emitterId && { emitterId }) };
      return sealer.seal(STREAM, JSON.stringify(payload));
    },
    streamKeyOf(token, emitterId) {
      const payload = open(sealer, STREAM, token) as StreamToken | undefined;
      if (payload === undefined || payload.untilMs <= Date.now()) return undefined;
      return (payload.emitterId ?? emitterId) === emitterId ? payload.key : undefined;
    },
  };
}

/** The payload that was sealed for this context, as it was given; undefined if none was. */
function open(sealer: Pick<Sealer, 'open'>, context: string, token: string): unknown {
  try {
    return JSON.parse(sealer.open(context, token));
  } catch (error) {
    // Made up, changed, or sealed with a key that this node has no longer: another one is needed.
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
