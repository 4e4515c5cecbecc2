import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { WebhookAuth } from '../../contract/index.ts';
import type { ClientTls } from '../../egress/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { ReceiverSettings } from './receiver-settings.ts';
import { readSecret } from '../transports/webhook/sign.ts';

/**
 * Opened signing keys and headers, by the sealed text: a change makes another text, so nothing ever
 * needs to be invalidated.
 */
export interface SecretKeys {
  /** Throws what the sealer throws. */
  keyOf(accountId: string, sealedSecret: string): KeyObject;
  /** Throws what the sealer throws. */
  headersOf(accountId: string, sealedHeaders: string): readonly [name: string, value: string][];
  /** Throws what the sealer throws. */
  authOf(accountId: string, sealedAuth: string): WebhookAuth;
  /**
   * How connections of these settings are secured; undefined: as by default. The same settings have
   * the same one. Throws what the sealer throws.
   */
  tlsOf(accountId: string, settings: ReceiverSettings): ClientTls | undefined;
}

const MAX_OPENED = 10_000;
/** Each holds some 100 KB. */
const MAX_CONTEXTS = 500;

export function createSecretKeys(sealer: Sealer): SecretKeys {
  const keyOf = createOpened(sealer, readSecret);
  const headersOf = createOpened(sealer, (text) => JSON.parse(text) as [string, string][]);
  const authOf = createOpened(sealer, (text) => JSON.parse(text) as WebhookAuth);
  return { keyOf, headersOf, authOf, tlsOf: createClientTls(sealer) };
}

function createClientTls(sealer: Sealer): SecretKeys['tlsOf'] {
  const made = new Map<string, ClientTls>();
  let count = 0;
  return (accountId, { options: { caCertificate: ca, clientCertificate: cert } = {}, sealedClientKey }) => {
    if (ca === undefined && sealedClientKey === undefined) return undefined;
    const cacheKey = [accountId, ca, cert, sealedClientKey].join(' ');
    const known = made.get(cacheKey);
    if (known !== undefined) return known;
    const key = sealedClientKey === undefined ? undefined : sealer.open(accountId, sealedClientKey);
    const tls = { id: ++count, context: createSecureContext({ ca, cert, key }) };
    if (made.size >= MAX_CONTEXTS) made.delete(made.keys().next().value as string);
    made.set(cacheKey, tls);
    return tls;
  };
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
