import { randomBytes, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '@headwater/shared';
import { hashToken } from '../accounts/index.ts';
import type { BegunPasskey } from '../contract/index.ts';
import { SealError } from '../secrets/index.ts';
import type { PeopleParts } from './people-parts.ts';
import { takeSignInTurn } from './sign-in.sql.ts';

/** A challenge of one purpose is none of the other. */
type Purpose = 'passkey sign-in' | 'new passkey';

interface Flow {
  challenge: string;
  /** The browser or session that it is for. */
  holder: string;
  endsAtMs: number;
}

const CHALLENGE_BYTES = 32;
/** Far longer than a challenge lasts, as the clocks of two nodes differ. */
const USED_SECONDS = 3_600;

/**
 * Challenges without a row until they are used: a stranger can ask for as many as they like. The
 * client keeps the flow, sealed, and any node opens it.
 */
export function beginChallenge(
  { sealer }: Pick<PeopleParts, 'sealer'>,
  purpose: Purpose,
  holder: string,
): BegunPasskey {
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  const flow: Flow = { challenge, holder, endsAtMs: Date.now() + LIMITS.passkeyMinutes * 60_000 };
  return { challenge, flow: sealer.seal(purpose, JSON.stringify(flow)) };
}

/** The challenge of a flow, once: undefined for another holder, too late, and the second time. */
export async function takeChallenge(
  { sql, sealer }: Pick<PeopleParts, 'sql' | 'sealer'>,
  purpose: Purpose,
  { flow: sealed, holder }: { flow: string; holder: string },
): Promise<string | undefined> {
  const flow = openFlow(sealer, purpose, sealed);
  if (flow === undefined || flow.endsAtMs < Date.now()) return undefined;
  if (!timingSafeEqual(hashToken(flow.holder), hashToken(holder))) return undefined;
  const once = { kind: 'challenge', of: flow.challenge, burst: 1, intervalSeconds: USED_SECONDS } as const;
  return (await takeSignInTurn(sql, once)) ? flow.challenge : undefined;
}

function openFlow(sealer: PeopleParts['sealer'], purpose: Purpose, sealed: string): Flow | undefined {
  try {
    return JSON.parse(sealer.open(purpose, sealed)) as Flow;
  } catch (error) {
    // Made up, or sealed with a key that this node has no longer.
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
