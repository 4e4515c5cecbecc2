import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { idField, secondsField } from './fields.ts';

export const passkeySchema = z
  .object({
    id: idField('The id of the passkey.', 'psk_1vZ8kQ0aB3xYpL9mWc2T'),
    name: z.string().meta({ description: 'What you call it.', example: 'Laptop' }),
    is_backed_up: z.boolean().meta({ description: 'A copy is kept elsewhere, as password managers do.' }),
    transports: z.array(z.string()).meta({
      description: 'How browsers reach its authenticator, as they say: `internal`, `usb`, `hybrid`…',
      example: ['internal'],
    }),
    created_at: secondsField('When it was added.'),
    last_used_at: secondsField('When it signed in last; null: not yet.').nullable(),
  })
  .meta({ id: 'Passkey' });

/** Options of WebAuthn are the browser's to read: their form is that of the standard. */
export const begunPasskeySchema = z
  .object({
    flow: z.string().meta({
      description: `To be sent with what the browser makes. It works once, within ${LIMITS.passkeyMinutes} minutes.`,
    }),
    options: z.record(z.string(), z.unknown()).meta({
      description:
        'For `PublicKeyCredential.parseCreationOptionsFromJSON` of a browser, or `parseRequestOptionsFromJSON`, by where it was asked for.',
      example: { challenge: 'kJ3nWq0c2mRz8Vx1u7Ht5Yb9Ls4Pd6Fa-Ge_Ti8Xo0', userVerification: 'required' },
    }),
  })
  .meta({ id: 'BegunPasskey' });

const MAX_CREDENTIAL_CHARS = 1_364;
const MAX_ANSWER_CHARS = 8_192;

/** `example`: what the beginning looks like. */
const bytesField = (description: string, example: string, maxChars = MAX_ANSWER_CHARS) =>
  z
    .string()
    .max(maxChars)
    .regex(/^[\w-]+$/, 'must be base64url')
    .meta({ description, example });

const credential = {
  id: bytesField('The id of the credential.', 'mQ4xTz0Lb2c', MAX_CREDENTIAL_CHARS),
  rawId: bytesField('The same.', 'mQ4xTz0Lb2c', MAX_CREDENTIAL_CHARS),
  type: z.literal('public-key').meta({ description: 'As the browser says.' }),
};
const clientDataJSON = bytesField('What the browser has signed for.', 'eyJ0eXBlIjoi');

/**
 * The answer of `navigator.credentials.create`, as `toJSON` writes it: with more than is read of
 * it.
 */
export const createdPasskeySchema = z
  .looseObject({
    ...credential,
    response: z
      .looseObject({
        clientDataJSON,
        attestationObject: bytesField('The public key, in CBOR.', 'o2NmbXRkbm9u'),
        transports: z.array(z.string().max(32)).max(16).optional().meta({ description: 'As in `Passkey`.' }),
      })
      .meta({ description: 'What the authenticator has made.' }),
  })
  .meta({ id: 'CreatedPasskey' });

/** The same to `navigator.credentials.get`. */
export const usedPasskeySchema = z
  .looseObject({
    ...credential,
    response: z
      .looseObject({
        clientDataJSON,
        authenticatorData: bytesField('The server, the count, and whether the person was verified.', 'SZYN5YgOjGh0'),
        signature: bytesField('Of both.', 'MEUCIQDw8vXg'),
        userHandle: bytesField('Whose passkey it is.', 'cGVyXzF2Wjhr', 128).nullish(),
      })
      .meta({ description: 'What the authenticator has signed.' }),
  })
  .meta({ id: 'UsedPasskey' });
