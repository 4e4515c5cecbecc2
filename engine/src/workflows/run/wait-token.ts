import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '../../secrets/index.ts';

/** Which run of which step a token stands for. */
interface TokenPlace {
  position: number;
  runs: number;
}

/** A token as it was given; `isOurs`: it was made for this execution by a node with our key. */
export interface ReadToken extends TokenPlace {
  isOurs: boolean;
}

/**
 * Tokens of runs of steps, derived from the instance's key. They are the same after a crash and
 * verifiable before the execution waits. So a receiver of a token may answer while the step still
 * runs.
 */
export interface WaitTokens {
  make(executionId: string, place: TokenPlace): string;
  /** Undefined for a text without the form of a token. */
  read(executionId: string, token: string): ReadToken | undefined;
}

const TOKEN = /^(\d{1,4})-(\d{1,6})-[\w-]{32}$/;
const MAC_CHARS = 32;

/**
 * The key is the one that seals when the node starts. After a key rotation, tokens of waiting
 * executions are verified by their rows.
 */
export function createWaitTokens(sealer: Pick<Sealer, 'mac'>): WaitTokens {
  const key = createSecretKey(sealer.mac('tokens of executions that wait'), 'base64url');
  const make = (executionId: string, { position, runs }: TokenPlace) => {
    const mac = createHmac('sha256', key).update(`${executionId} ${position} ${runs}`).digest('base64url');
    return `${position}-${runs}-${mac.slice(0, MAC_CHARS)}`;
  };
  return {
    make,
    read(executionId, token) {
      const match = TOKEN.exec(token);
      if (match === null) return undefined;
      const place = { position: Number(match[1]), runs: Number(match[2]) };
      return { ...place, isOurs: isSameToken(make(executionId, place), token) };
    },
  };
}

/** In constant time. */
export function isSameToken(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
