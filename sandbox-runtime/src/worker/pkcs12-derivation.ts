import { createHash } from 'node:crypto';
import { AskError } from './ask-error.ts';

/** As made by hand here: a third of a second. Keys are written with 2 048. */
const MAX_ROUNDS = 100_000;
const BLOCK_BYTES = 64;
const PURPOSES = { key: 1, iv: 2 } as const;

interface Derivation {
  passphrase: Buffer;
  salt: Buffer;
  rounds: number;
  purpose: keyof typeof PURPOSES;
  bytes: number;
}

/**
 * The derivation of PKCS #12, appendix B of RFC 7292, with SHA-1, which Node has not. Throws
 * AskError for one that takes too long.
 */
export function derivePkcs12({ passphrase, salt, rounds, purpose, bytes }: Derivation): Buffer {
  if (rounds > MAX_ROUNDS) throw new AskError(`A key of PKCS #12 may take at most ${MAX_ROUNDS} rounds of sha1 here`);
  const diversifier = Buffer.alloc(BLOCK_BYTES, PURPOSES[purpose]);
  let input: Buffer = Buffer.concat([repeat(salt), repeat(wideText(passphrase))]);
  let derived: Buffer = Buffer.alloc(0);
  while (derived.length < bytes) {
    let hash = createHash('sha1').update(diversifier).update(input).digest();
    for (let round = 1; round < rounds; round++) hash = createHash('sha1').update(hash).digest();
    derived = Buffer.concat([derived, hash]);
    input = addToBlocks(input, hash);
  }
  return derived.subarray(0, bytes);
}

/** To whole blocks. */
function repeat(bytes: Buffer): Buffer {
  const length = Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES;
  return bytes.length === 0 ? bytes : Buffer.alloc(length, bytes);
}

/** UTF-16, big end first, with a zero at its end. */
function wideText(passphrase: Buffer): Buffer {
  return Buffer.from(`${passphrase.toString()}\0`, 'utf16le').swap16();
}

function addToBlocks(input: Buffer, hash: Buffer): Buffer {
  const addend = BigInt(`0x${Buffer.alloc(BLOCK_BYTES, hash).toString('hex')}`) + 1n;
  const blocks: Buffer[] = [];
  for (let at = 0; at < input.length; at += BLOCK_BYTES) {
    const sum = BigInt(`0x${input.toString('hex', at, at + BLOCK_BYTES)}`) + addend;
    blocks.push(
      Buffer.from(
        BigInt.asUintN(8 * BLOCK_BYTES, sum)
          .toString(16)
          .padStart(2 * BLOCK_BYTES, '0'),
        'hex',
      ),
    );
  }
  return Buffer.concat(blocks);
}
