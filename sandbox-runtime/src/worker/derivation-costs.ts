import { AskError } from './ask-error.ts';

/**
 * This thread serves every isolate of the process: what would keep it busy for seconds is refused.
 */
export const MAX_PBKDF2_ROUNDS = 5_000_000;
export const MAX_SCRYPT_WORK = 2 ** 21;
export const MAX_SCRYPT_BYTES = 128 * 1024 * 1024;
const SHA256_BYTES = 32;
/** Each block that is derived hashes the salt once more. */
const MAX_SALT_BYTES = 64 * 1024;
/** Bytes that all derived blocks hash: half a second. */
const MAX_SALTED_BYTES = 2 ** 28;
/**
 * Rounds that others than SHA-1 and SHA-256 are as long as, measured, and the bytes that one block
 * of theirs gives.
 */
const PBKDF2_COST: Readonly<Record<string, [weight: number, blockBytes: number]>> = {
  sha1: [1, 20],
  sha224: [1, 28],
  sha256: [1, 32],
  sha384: [3, 48],
  sha512: [3, 64],
};
const OTHER_PBKDF2_COST = [8, 16] as const;

export interface ScryptParameters {
  cost: number;
  blockSize: number;
  parallelization: number;
}

/** Throws AskError. */
export function refuseLongPbkdf2(rounds: number, keyBytes: number, digest: string, saltBytes: number): void {
  const [weight, blockBytes] = PBKDF2_COST[digest.toLowerCase().replace('-', '')] ?? OTHER_PBKDF2_COST;
  const blocks = Math.ceil(keyBytes / blockBytes);
  if (rounds * weight * blocks > MAX_PBKDF2_ROUNDS) {
    const most = Math.floor(MAX_PBKDF2_ROUNDS / weight / blocks);
    throw new AskError(`PBKDF2 may take at most ${most} rounds of ${digest} for ${keyBytes} bytes`);
  }
  checkSalt(saltBytes, blocks);
}

/** Throws AskError. */
export function refuseLongScrypt(
  { cost, blockSize, parallelization }: ScryptParameters,
  keyBytes: number,
  saltBytes: number,
): void {
  if (cost * blockSize * parallelization > MAX_SCRYPT_WORK) throw new AskError('These scrypt parameters take too long');
  const mixedBytes = 128 * blockSize * parallelization;
  // First that many are derived from the salt, and at last the key from them.
  checkSalt(saltBytes, Math.ceil(mixedBytes / SHA256_BYTES));
  if (mixedBytes * Math.ceil(keyBytes / SHA256_BYTES) > MAX_SALTED_BYTES)
    throw new AskError('These scrypt parameters take too long');
}

function checkSalt(bytes: number, blocks: number): void {
  if (bytes > MAX_SALT_BYTES) throw new AskError(`A salt may have at most ${MAX_SALT_BYTES} bytes here`);
  if (bytes * blocks > MAX_SALTED_BYTES) throw new AskError('So long a salt takes too long for so long a key');
}
