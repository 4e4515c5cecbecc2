import { z } from '@hono/zod-openapi';
import { KEY_SCOPES, LIMITS, RIGHTS, ROLES } from '@headwater/shared';
import { usedPasskeySchema } from '@headwater/shared/contract';
import { MAX_FLOW_CHARS } from '../passkeys/options.ts';
import { ACCOUNT_HEADER, SESSION_HEADER } from '../web/session-cookie.ts';

/* Paths of sign-in, what is sent to them, and what they answer. */

export const SESSION_PATH = '/v1/session';
export const INVITATION_PATH = `${SESSION_PATH}/invitation`;
export const ACCEPT_PATH = `${INVITATION_PATH}/accept`;
export const INVITED_OIDC_PATH = `${INVITATION_PATH}/oidc`;
export const METHODS_PATH = `${SESSION_PATH}/methods`;
export const RESET_PATH = `${SESSION_PATH}/password_reset`;
export const NEW_PASSWORD_PATH = `${RESET_PATH}/password`;
export const PASSKEY_PATH = `${SESSION_PATH}/passkey`;
export const PASSKEY_OPTIONS_PATH = `${PASSKEY_PATH}/options`;

const passwordField = () => z.string().max(LIMITS.maxPasswordChars);
const tokenField = () =>
  z.string().max(LIMITS.maxIdChars).openapi({ description: 'What stands behind `token=` in the link.' });

export const keySchema = z.strictObject({
  api_key: z.string().max(LIMITS.maxIdChars).openapi({ description: 'A key of an account, or the admin key.' }),
});
export const passwordSchema = z.strictObject({
  email: z.string().max(LIMITS.maxEmailChars).openapi({ description: 'The address of a member.' }),
  password: passwordField().openapi({ description: 'The password of the member.' }),
});
export const resetSchema = z.strictObject({
  email: z.string().max(LIMITS.maxEmailChars).openapi({ description: 'The address that you sign in with.' }),
});
export const newPasswordSchema = z.strictObject({
  token: tokenField(),
  password: passwordField().openapi({ description: `The new one, of at least ${LIMITS.minPasswordChars} characters.` }),
});
export const linkSchema = z.strictObject({ token: tokenField() });
export const acceptSchema = z.strictObject({
  token: tokenField(),
  name: z.string().max(LIMITS.maxNameChars).optional().openapi({ description: 'Of a new person.' }),
  password: passwordField().optional().openapi({
    description: 'A new one, or that of the person who is there. Not needed with the session of that person.',
  }),
});

export const usedSchema = z.strictObject({
  flow: z.string().max(MAX_FLOW_CHARS).openapi({ description: 'As it was begun with, in the same browser.' }),
  response: usedPasskeySchema,
});

export const openInvitationSchema = z
  .object({
    account_name: z.string().describe('The account that the person is invited to.'),
    email: z.string().describe('Who is invited.'),
    role: z.enum(ROLES).describe('What the member may do.'),
    expires_at: z.int().openapi({ description: 'Epoch seconds.' }),
  })
  .openapi('OpenInvitation');

export const sessionSchema = z
  .object({
    id: z.string().openapi({ description: `Goes into the header \`${SESSION_HEADER}\` of each request.` }),
    role: z.enum(['account', 'operator']).openapi({ description: '`operator` is the admin key.' }),
    account_id: z.string().nullable().describe('The account of the key. Null: the admin key has none.'),
    account_name: z.string().nullable().describe('The name of the account. Null: the admin key has none.'),
    user_id: z.string().nullable().describe('The user of the key. Null: the admin key has none.'),
    username: z.string().nullable().describe('The name of the user. Null: the admin key has none.'),
    member: z
      .object({
        email: z.string().describe('What the member signs in with.'),
        role: z.enum(ROLES).describe('What the member is in `account_id`.'),
        rights: z.array(z.enum(RIGHTS)).describe('What the member may do there.'),
        accounts: z
          .array(
            z.object({
              id: z.string().openapi({ description: `Goes into the header \`${ACCOUNT_HEADER}\`.` }),
              name: z.string().describe('The name of the account.'),
              role: z.enum(ROLES).describe('What the member may do there.'),
            }),
          )
          .openapi({ description: 'All accounts of the member, by name.' }),
      })
      .nullable()
      .openapi({ description: 'Null: it is the session of an API key.' }),
    key: z
      .object({
        scopes: z.array(z.enum(KEY_SCOPES)).describe('What the key may do.'),
        resource: z.string().nullable().describe('The one resource that it reaches. Null: the whole account.'),
        rights: z
          .array(z.enum(RIGHTS))
          .describe('What it may do in the whole account. A key with other scopes, or for one resource, has none.'),
      })
      .nullable()
      .openapi({ description: 'The API key of the session. Null: it is that of a member, or of the operator.' }),
    expires_at: z.int().openapi({ description: 'Epoch seconds. `GET` renews it.' }),
  })
  .openapi('Session');

export const methodsSchema = z
  .object({
    passkey: z.boolean().describe('A passkey signs in: the server has a name that browsers make passkeys for.'),
    password_reset: z.boolean().describe('A link that sets a new password can be mailed.'),
    oidc: z
      .object({ name: z.string().describe('What to call the provider.') })
      .nullable()
      .describe('The provider at which members sign in. Null: there is none.'),
  })
  .openapi('SignInMethods');

export const begunSignInSchema = z
  .object({ url: z.string().describe('Where the browser goes on, at the provider.') })
  .openapi('BegunSignIn');
