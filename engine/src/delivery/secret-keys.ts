import type { KeyObject } from 'node:crypto';
import type { Sealer } from '../secrets/seal.ts';
import { readSecret } from './sign.ts';

/**
 * Opened signing keys and headers, by the sealed text: a change makes another text, so nothing ever
 * needs to be invalidated.
 */
export interface SecretKeys {
  /** Throws what the sealer throws. */
  keyOf(accountId: string, sealedSecret: string): KeyObject;
  /** Throws what the sealer throws. */
  headersOf(accountId: string, sealedHeaders: string): readonly [name: string, value: string][];
}

const MAX_OPENED = 10_000;

export function createSecretKeys(sealer: Sealer): SecretKeys {
  const keyOf = createOpened(sealer, readSecret);
  const headersOf = createOpened(sealer, (text) => JSON.parse(text) as [string, string][]);
  return { keyOf, headersOf };
}

function createOpened<T>(sealer: Sealer, read: (text: string) => T): (accountId: string, sealed: string) => T {
  const opened = new Map<string, T>();
  return (accountId, sealed) => {
    // The account is part of the key: a row that names another account's sealed text must fail to
    // open, cached or not.
    const cacheKey = `${accountId} ${sealed}`;
    const known = opened.get(cacheKey);
    if (known !== undefined) return known;
    const value = read(sealer.open(accountId, sealed));
    // The oldest goes; one that is still in use is opened again once in ten thousand.
    if (opened.size >= MAX_OPENED) opened.delete(opened.keys().next().value as string);
    opened.set(cacheKey, value);
    return value;
  };
}
