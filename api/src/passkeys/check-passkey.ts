import type { PasskeyCredential, PasskeyProof, StoredPasskey } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import type { createdPasskeySchema, usedPasskeySchema } from '@headwater/shared/contract';
import type { z } from 'zod';
import { ALGORITHMS, base64url } from './options.ts';
import type { RelyingParty } from './relying-party.ts';

type Created = z.output<typeof createdPasskeySchema>;
type Used = z.output<typeof usedPasskeySchema>;

const MAX_KEY_BYTES = 2_048;
const TRANSPORT = /^[a-z][a-z-]*$/;

/** Loaded when it is needed: the library takes 25 MB and a second, and most nodes never use it. */
const load = async () => ({
  ...(await import('@simplewebauthn/server')),
  ...(await import('@simplewebauthn/server/helpers')),
});

/** Throws INVALID_REQUEST for what this server has not asked for, or no person was verified for. */
export async function checkCreated(
  { id, origin }: RelyingParty,
  { response: made, ...credential }: Created,
  expectedChallenge: string,
): Promise<PasskeyCredential> {
  // A failure to load is the server's: it must not read as a mistake of the browser.
  const library = await load();
  try {
    const attestationObject = withoutAttestation(library, made.attestationObject);
    const { registrationInfo: info } = await library.verifyRegistrationResponse({
      response: named(credential, { clientDataJSON: made.clientDataJSON, attestationObject }),
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (info === undefined) throw new Error('It was not verified');
    const { id: credentialId, publicKey, counter } = info.credential;
    if (credentialId !== credential.id) throw new Error('It is another credential than it says');
    if (publicKey.length > MAX_KEY_BYTES) throw new Error('Its key is too large');
    return {
      credentialId: Buffer.from(credentialId, 'base64url'),
      publicKey,
      signCount: counter,
      isBackedUp: info.credentialBackedUp,
      transports: (made.transports ?? []).filter((one) => TRANSPORT.test(one)),
    };
  } catch (cause) {
    const message = `is no passkey that this browser has made for ${origin}, after verifying its person`;
    const fields = [{ path: 'response', message }];
    throw new HeadwaterError('INVALID_REQUEST', `response ${message}`, { fields, cause });
  }
}

/**
 * As if the authenticator had attested nothing: nothing is asked for. Certificates name addresses
 * of lists of revoked ones, and the library would fetch those.
 */
function withoutAttestation(
  { decodeAttestationObject, isoBase64URL, isoCBOR }: Awaited<ReturnType<typeof load>>,
  attestationObject: string,
): string {
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData');
  const unattested = new Map<string, Uint8Array | string | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(unattested));
}

/** Throws for what is not signed by the stored key, for this server, by its person. */
export async function checkUsed(
  { id, origin }: RelyingParty,
  { response: used, ...credential }: Used,
  { challenge: expectedChallenge, stored }: { challenge: string; stored: StoredPasskey },
): Promise<PasskeyProof> {
  const { verifyAuthenticationResponse } = await load();
  const { userHandle, clientDataJSON, authenticatorData, signature } = used;
  if (userHandle !== base64url(Buffer.from(stored.personId))) throw new Error('It says that it is of another person');
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: named(credential, { clientDataJSON, authenticatorData, signature, userHandle }),
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: { id: credential.id, publicKey: Uint8Array.from(stored.publicKey), counter: stored.signCount },
  });
  if (!verified) throw new Error('Its signature is not of the stored key');
  return { signCount: info.newCounter, isBackedUp: info.credentialBackedUp };
}

/** As the library knows it; it reads no extensions. */
function named<T>({ id, rawId, type }: Pick<Used, 'id' | 'rawId' | 'type'>, response: T) {
  return { id, rawId, type, response, clientExtensionResults: {} };
}
