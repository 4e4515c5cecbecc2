import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

interface Options {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
  user?: { id: string };
}

/** How an authenticator, or its browser, is not what it should be. */
export interface Misbehaviour {
  origin?: string;
  rpId?: string;
  /** It has asked for no PIN and no finger. */
  unverified?: boolean;
  signCount?: number;
  userHandle?: string;
  challenge?: string;
  /** Signs with a key of its own. */
  otherKey?: boolean;
  type?: string;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/**
 * A browser with an authenticator that holds one passkey of ES256, as bytes over HTTP: what real
 * ones never send can be sent.
 */
export function createAuthenticator(origin: string) {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let userHandle = 'cGVyX25vYm9keQ';
  let signCount = 0;

  function clientData(type: string, challenge: string, wrong: Misbehaviour): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    );
  }

  function authenticatorData(rpId: string, credential: Buffer, wrong: Misbehaviour): Buffer {
    const verified = wrong.unverified === true ? 0 : USER_VERIFIED;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.signCount ?? ++signCount);
    const flags = USER_PRESENT | verified | (credential.length > 0 ? HAS_CREDENTIAL : 0);
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags]), count, credential]);
  }

  return {
    id: id.toString('base64url'),
    /** The answer of `navigator.credentials.create`. `attested`: a format, and its statement. */
    create(options: unknown, wrong: Misbehaviour = {}, attested: { fmt: string; attStmt: Map<string, never> } = NONE) {
      const { challenge, rp, user } = options as Options;
      userHandle = user?.id ?? '';
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(keys.publicKey)]);
      const authData = authenticatorData(rp?.id ?? '', credential, wrong);
      const attestationObject = isoCBOR.encode(
        new Map<string, string | Uint8Array | Map<string, never>>([
          ['fmt', attested.fmt],
          ['attStmt', attested.attStmt],
          ['authData', Uint8Array.from(authData)],
        ]),
      );
      return {
        ...named(id),
        authenticatorAttachment: 'platform',
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, wrong).toString('base64url'),
          attestationObject: Buffer.from(attestationObject).toString('base64url'),
          transports: ['internal', 'hybrid', 'NOT ONE'],
        },
      };
    },
    /** The answer of `navigator.credentials.get`. */
    get(options: unknown, wrong: Misbehaviour = {}) {
      const { challenge, rpId = '' } = options as Options;
      const client = clientData('webauthn.get', challenge, wrong);
      const data = authenticatorData(rpId, Buffer.alloc(0), wrong);
      const key = wrong.otherKey === true ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : keys;
      const signed = sign('sha256', Buffer.concat([data, sha256(client)]), key.privateKey);
      return {
        ...named(id),
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signed.toString('base64url'),
          userHandle: wrong.userHandle ?? userHandle,
        },
      };
    },
  };
}

const NONE = { fmt: 'none', attStmt: new Map<string, never>() };

const named = (id: Buffer) => ({ id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' });

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();

/** COSE_Key of ES256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const fields = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Uint8Array.from(Buffer.from(x, 'base64url'))],
    [-3, Uint8Array.from(Buffer.from(y, 'base64url'))],
  ]);
  return Buffer.from(isoCBOR.encode(fields));
}
