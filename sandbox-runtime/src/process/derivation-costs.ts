import { AskError } from './ask-error.ts';

/** This thread serves every isolate of the process: what would keep it busy for seconds is refused. */
export const MAX_PBKDF2_ROUNDS = 5_000_000;
export const MAX_SCRYPT_WORK = 2 ** 21;
/** Rounds that others than SHA-1 and SHA-256 are as long as, measured, and the bytes that one block of theirs gives. */
const PBKDF2_COST: Readonly<Record<string, [weight: number, blockBytes: number]>> = {
  sha1: [1, 20],
  sha224: [1, 28],
  sha256: [1, 32],
  sha384: [3, 48],
  sha512: [3, 64],
};
const OTHER_PBKDF2_COST = [8, 16] as const;

/** Throws AskError. Answers how many blocks are derived. */
export function refuseLongPbkdf2(rounds: number, keyBytes: number, digest: string): number {
  const [weight, blockBytes] = PBKDF2_COST[digest.toLowerCase().replace('-', '')] ?? OTHER_PBKDF2_COST;
  const blocks = Math.ceil(keyBytes / blockBytes);
  if (rounds * weight * blocks <= MAX_PBKDF2_ROUNDS) return blocks;
  const most = Math.floor(MAX_PBKDF2_ROUNDS / weight / blocks);
  throw new AskError(`PBKDF2 may take at most ${most} rounds of ${digest} for ${keyBytes} bytes`);
}
