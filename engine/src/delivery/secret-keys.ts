import type { KeyObject } from 'node:crypto';
import type { Sealer } from '../secrets/seal.ts';
import { readSecret } from './sign.ts';

/** Opened signing keys, by the sealed text: a changed secret is another text, so nothing ever needs to be invalidated. */
export interface SecretKeys {
  /** Throws what the sealer throws. */
  keyOf(accountId: string, sealedSecret: string): KeyObject;
}

const MAX_KEYS = 10_000;

export function createSecretKeys(sealer: Sealer): SecretKeys {
  const keys = new Map<string, KeyObject>();
  return {
    keyOf(accountId, sealedSecret) {
      // The account is part of the key: a row that names another account's sealed text must fail to open, cached or not.
      const cacheKey = `${accountId} ${sealedSecret}`;
      const known = keys.get(cacheKey);
      if (known !== undefined) return known;
      const key = readSecret(sealer.open(accountId, sealedSecret));
      // The oldest goes; a key that is still in use is opened again once in ten thousand.
      if (keys.size >= MAX_KEYS) keys.delete(keys.keys().next().value as string);
      keys.set(cacheKey, key);
      return key;
    },
  };
}
