import { LIMITS } from '@headwater/shared';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialDescriptorJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { RelyingParty } from './relying-party.ts';

/** ES256, EdDSA and RS256: each authenticator has one, and each version of Node checks all. */
export const ALGORITHMS = [-7, -8, -257];

/** A person who signs in names nobody: the authenticator has to know whose passkey it is. */
const SELECTION = { residentKey: 'required', requireResidentKey: true, userVerification: 'required' } as const;

/** Far more than a sealed flow has. */
export const MAX_FLOW_CHARS = 2_048;

const timeout = LIMITS.passkeyMinutes * 60_000;

interface Adding {
  challenge: string;
  person: { id: string; email: string; name: string };
  known: { credentialId: Uint8Array; transports: string[] }[];
}

export function creationOptions(
  { id }: RelyingParty,
  { challenge, person, known }: Adding,
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge,
    rp: { id, name: 'Headwater' },
    user: { id: base64url(Buffer.from(person.id)), name: person.email, displayName: person.name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    attestation: 'none',
    authenticatorSelection: SELECTION,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      type: 'public-key',
      id: base64url(credentialId),
      // Those of later standards too: browsers ignore what they do not know.
      transports: transports as NonNullable<PublicKeyCredentialDescriptorJSON['transports']>,
    })),
  };
}

export function requestOptions({ id }: RelyingParty, challenge: string): PublicKeyCredentialRequestOptionsJSON {
  return { challenge, rpId: id, timeout, userVerification: 'required' };
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
