import { z } from '@hono/zod-openapi';
import { ERRORS, LIMITS } from '@headwater/shared';
import { begunPasskeySchema } from '@headwater/shared/contract';
import type { App } from '../app-options.ts';
import { describeProblem } from '../openapi/problems.ts';
import { ACCOUNT_HEADER, SESSION_HEADER } from '../web/session-cookie.ts';
import { OIDC_PATH } from './oidc.ts';
import {
  ACCEPT_PATH,
  INVITATION_PATH,
  INVITED_OIDC_PATH,
  METHODS_PATH,
  NEW_PASSWORD_PATH,
  PASSKEY_OPTIONS_PATH,
  PASSKEY_PATH,
  RESET_PATH,
  SESSION_PATH,
  acceptSchema,
  begunSignInSchema,
  openInvitationSchema,
  keySchema,
  linkSchema,
  methodsSchema,
  newPasswordSchema,
  passwordSchema,
  resetSchema,
  sessionSchema,
  usedSchema,
} from './session-schemas.ts';

const ANSWER = {
  description: 'The session; the cookie is in `set-cookie`.',
  content: { 'application/json': { schema: z.object({ data: sessionSchema }) } },
};
const jsonBody = (schema: z.ZodType) => ({ body: { content: { 'application/json': { schema } } } });
const PROBLEMS = {
  400: describeProblem(ERRORS.INVALID_REQUEST.title, ['INVALID_REQUEST']),
  401: describeProblem('The key is unknown or revoked, the password is wrong, or the session has ended', [
    'UNAUTHORIZED',
  ]),
  429: describeProblem(ERRORS.RATE_LIMITED.title, ['RATE_LIMITED']),
  500: describeProblem(ERRORS.INTERNAL.title, ['INTERNAL']),
};
const UNKNOWN_LINK = { 404: describeProblem('The link was used or revoked, or has expired', ['NOT_FOUND']) };

/** Describes what mountSession mounts. */
export function registerSession(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'post',
    path: SESSION_PATH,
    operationId: 'createSession',
    tags: ['Session'],
    summary: 'Sign a browser in with an API key, or with an e-mail address and a password',
    description: `Sets a cookie (HttpOnly, SameSite=Strict) that signs requests which name the session in the header \`${SESSION_HEADER}\`. It ends with the key or the session of the member, or after ${LIMITS.sessionMaxAgeMs / 3_600_000} hours without renewal. A member names the account in the header \`${ACCOUNT_HEADER}\`. The answer is the same whether there is such a member or not.`,
    security: [],
    request: jsonBody(z.union([keySchema, passwordSchema])),
    responses: { 200: ANSWER, ...PROBLEMS },
  });
  registry.registerPath({
    method: 'get',
    path: SESSION_PATH,
    operationId: 'getSession',
    tags: ['Session'],
    summary: 'Who is signed in; renews the session',
    description: 'The cookie is set anew, and lasts as long as at sign-in.',
    security: [{ apiKey: [] }],
    responses: { 200: ANSWER, ...PROBLEMS },
  });
  registry.registerPath({
    method: 'delete',
    path: SESSION_PATH,
    operationId: 'deleteSession',
    tags: ['Session'],
    summary: 'Sign the browser out',
    description:
      'Takes the cookie back. Other browsers with the same key stay signed in; the session of a member ends.',
    security: [],
    responses: { 204: { description: 'The cookie is gone.' }, ...PROBLEMS },
  });
  registerInvitation(registry);
  registerPasskey(registry);
  registerReset(registry);
  registerOidc(registry);
  registerInvitedOidc(registry);
}

function registerInvitation(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'post',
    path: INVITATION_PATH,
    operationId: 'openInvitation',
    tags: ['Session'],
    summary: 'What the link of an invitation leads to',
    description: 'For the page that accepts it. The invitation stays as it is.',
    security: [],
    request: jsonBody(linkSchema),
    responses: {
      200: {
        description: 'The invitation.',
        content: { 'application/json': { schema: z.object({ data: openInvitationSchema }) } },
      },
      ...PROBLEMS,
      ...UNKNOWN_LINK,
    },
  });
  registry.registerPath({
    method: 'post',
    path: ACCEPT_PATH,
    operationId: 'acceptInvitation',
    tags: ['Session'],
    summary: 'Accept an invitation, and sign in',
    description:
      'A new person gives a name and a password. A person who is there gives the password, or is signed in with the same address; then that session goes on. The link works once.',
    security: [],
    request: jsonBody(acceptSchema),
    responses: {
      200: ANSWER,
      ...PROBLEMS,
      403: describeProblem('The session is that of another person', ['FORBIDDEN']),
      ...UNKNOWN_LINK,
      409: describeProblem('The person is a member already, or the account is full', ['CONFLICT']),
    },
  });
}

function registerPasskey(registry: App['openAPIRegistry']): void {
  const unnamed = describeProblem('The server has no name that browsers make passkeys for', ['CONFLICT']);
  registry.registerPath({
    method: 'post',
    path: PASSKEY_OPTIONS_PATH,
    operationId: 'beginPasskeySignIn',
    tags: ['Session'],
    summary: 'Begin to sign in with a passkey',
    description:
      'For browsers: `options` go to `navigator.credentials.get`, and name no passkeys: the person chooses one. Sets a cookie that names the browser.',
    security: [],
    request: jsonBody(z.strictObject({})),
    responses: {
      200: {
        description: 'What the browser asks the authenticator for.',
        content: { 'application/json': { schema: z.object({ data: begunPasskeySchema }) } },
      },
      ...PROBLEMS,
      409: unnamed,
    },
  });
  registry.registerPath({
    method: 'post',
    path: PASSKEY_PATH,
    operationId: 'signInWithPasskey',
    tags: ['Session'],
    summary: 'Sign a browser in with a passkey',
    description: `Answers as \`POST ${SESSION_PATH}\` does. An answer works once, within ${LIMITS.passkeyMinutes} minutes, in the browser that has begun it. It is refused in the same words for a passkey that nobody has, or was removed, and where the count of its signatures goes backwards.`,
    security: [],
    request: jsonBody(usedSchema),
    responses: { 200: ANSWER, ...PROBLEMS, 409: unnamed },
  });
}

function registerReset(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'post',
    path: RESET_PATH,
    operationId: 'requestPasswordReset',
    tags: ['Session'],
    summary: 'Mail a link that sets a new password',
    description: `The answer is the same whether there is such a person or not. The link works once, within ${LIMITS.passwordResetMinutes} minutes.`,
    security: [],
    request: jsonBody(resetSchema),
    responses: {
      202: { description: 'A link is mailed where a person has this address.' },
      ...PROBLEMS,
      409: describeProblem('This server sends no mail', ['CONFLICT']),
    },
  });
  registry.registerPath({
    method: 'post',
    path: NEW_PASSWORD_PATH,
    operationId: 'resetPassword',
    tags: ['Session'],
    summary: 'Set a new password with a mailed link, and sign in',
    description: 'Ends all other sessions of the person, and removes the passkeys.',
    security: [],
    request: jsonBody(newPasswordSchema),
    responses: { 200: ANSWER, ...PROBLEMS, ...UNKNOWN_LINK },
  });
}

function registerOidc(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'get',
    path: METHODS_PATH,
    operationId: 'getSignInMethods',
    tags: ['Session'],
    summary: 'How members may sign in, beside with a password',
    description: 'For the page that signs in.',
    security: [],
    responses: {
      200: {
        description: 'The ways.',
        content: { 'application/json': { schema: z.object({ data: methodsSchema }) } },
      },
      ...PROBLEMS,
    },
  });
  const location = z.object({ location: z.string().openapi({ description: 'Where the browser goes on.' }) });
  const none = describeProblem('The operator has set no provider', ['NOT_FOUND']);
  registry.registerPath({
    method: 'get',
    path: OIDC_PATH,
    operationId: 'beginOidcSignIn',
    tags: ['Session'],
    summary: 'Send a browser to the provider to sign in',
    description: 'A link for people: OpenID Connect, authorization code with PKCE. Sets a cookie for ten minutes.',
    security: [],
    request: {
      query: z.object({ from: z.string().optional().openapi({ description: 'The path of the UI to end at.' }) }),
    },
    responses: { 302: { description: 'To the provider.', headers: location }, 404: none, 500: PROBLEMS[500] },
  });
  registry.registerPath({
    method: 'get',
    path: `${OIDC_PATH}/callback`,
    operationId: 'finishOidcSignIn',
    tags: ['Session'],
    summary: 'Where the provider sends the browser back to',
    description:
      'Signs the person in whose address the provider has verified. With the invitation that the sign-in began with, the person joins its account. Others that nobody here knows are refused, and the sign-in page says why.',
    security: [],
    request: {
      query: z.object({
        state: z.string().optional().openapi({ description: 'Of the sign-in that this browser has begun.' }),
        code: z.string().optional().openapi({ description: 'Of the provider.' }),
        error: z.string().optional().openapi({ description: 'Of the provider, which refuses.' }),
        iss: z.string().optional().openapi({ description: 'The provider (RFC 9207).' }),
      }),
    },
    responses: {
      302: { description: 'To the sign-in page, with the session or the reason.', headers: location },
      404: none,
      429: PROBLEMS[429],
      500: PROBLEMS[500],
    },
  });
}

function registerInvitedOidc(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'post',
    path: INVITED_OIDC_PATH,
    operationId: 'beginInvitedOidcSignIn',
    tags: ['Session'],
    summary: 'Accept an invitation by a sign-in at the provider',
    description:
      'For browsers: sets a cookie for ten minutes, and answers where to go. The invitation is accepted when the provider has verified its address.',
    security: [],
    request: jsonBody(linkSchema),
    responses: {
      200: {
        description: 'Where the browser goes on.',
        content: {
          'application/json': {
            schema: z.object({ data: begunSignInSchema }),
          },
        },
      },
      ...PROBLEMS,
      404: describeProblem('The operator has set no provider, or the link does not work (any more)', ['NOT_FOUND']),
      503: describeProblem('The provider does not answer', ['UNAVAILABLE']),
    },
  });
}
