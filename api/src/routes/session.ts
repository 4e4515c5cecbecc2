import { z } from '@hono/zod-openapi';
import { OidcRefusal, readSessionBearer, type SignInClient } from '@headwater/engine';
import { ERRORS, HeadwaterError, LIMITS, RIGHTS, rightsOf, type Role, ROLES } from '@headwater/shared';
import type { App, AppOptions } from '../app-options.ts';
import { bearerKey } from '../bearer-key.ts';
import type { ApiContext } from '../environment.ts';
import { flowCookie, mountOidc, OIDC_PATH } from './oidc.ts';
import { isAdminKey, requireKey } from '../middleware/authenticate.ts';
import { describeProblem } from '../openapi/problems.ts';
import { readBodyBytes, utf8Text } from '../parameters/read-body.ts';
import { given } from '../parameters/given.ts';
import { epochSeconds } from '../resources/time.ts';
import {
  ACCOUNT_HEADER,
  type CookieScope,
  cookieScope,
  sessionCookie,
  SESSION_HEADER,
  sessionIdOf,
} from '../web/session-cookie.ts';

export const SESSION_PATH = '/v1/session';
const INVITATION_PATH = `${SESSION_PATH}/invitation`;
const ACCEPT_PATH = `${INVITATION_PATH}/accept`;
const INVITED_OIDC_PATH = `${INVITATION_PATH}/oidc`;
const METHODS_PATH = `${SESSION_PATH}/methods`;
const RESET_PATH = `${SESSION_PATH}/password_reset`;
const NEW_PASSWORD_PATH = `${RESET_PATH}/password`;
/** By the pattern of their paths. */
export const SESSION_METHODS: readonly [string, string[]][] = [
  [`^${SESSION_PATH}$`, ['GET', 'POST', 'DELETE']],
  [`^${SESSION_PATH}/methods$`, ['GET']],
  [`^${OIDC_PATH}(?:/callback)?$`, ['GET']],
  [`^${SESSION_PATH}/(?:invitation(?:/accept|/oidc)?|password_reset(?:/password)?)$`, ['POST']],
];
const MAX_BODY_BYTES = 4_096;

const passwordField = () => z.string().max(LIMITS.maxPasswordChars);
const tokenField = () =>
  z.string().max(LIMITS.maxIdChars).openapi({ description: 'What stands behind `token=` in the link.' });

const keySchema = z.strictObject({
  api_key: z.string().max(LIMITS.maxIdChars).openapi({ description: 'A key of an account, or the admin key.' }),
});
const passwordSchema = z.strictObject({
  email: z.string().max(LIMITS.maxEmailChars).openapi({ description: 'The address of a member.' }),
  password: passwordField().openapi({ description: 'The password of the member.' }),
});
const resetSchema = z.strictObject({
  email: z.string().max(LIMITS.maxEmailChars).openapi({ description: 'The address that you sign in with.' }),
});
const newPasswordSchema = z.strictObject({
  token: tokenField(),
  password: passwordField().openapi({ description: `The new one, of at least ${LIMITS.minPasswordChars} characters.` }),
});
const linkSchema = z.strictObject({ token: tokenField() });
const acceptSchema = z.strictObject({
  token: tokenField(),
  name: z.string().max(LIMITS.maxNameChars).optional().openapi({ description: 'Of a new person.' }),
  password: passwordField().optional().openapi({
    description: 'A new one, or that of the person who is there. Not needed with the session of that person.',
  }),
});

const invitationSchema = z
  .object({
    account_name: z.string().describe('The account that the person is invited to.'),
    email: z.string().describe('Who is invited.'),
    role: z.enum(ROLES).describe('What the member may do.'),
    expires_at: z.int().openapi({ description: 'Epoch seconds.' }),
  })
  .openapi('OpenInvitation');

const sessionSchema = z
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
    expires_at: z.int().openapi({ description: 'Epoch seconds. `GET` renews it.' }),
  })
  .openapi('Session');

const methodsSchema = z
  .object({
    password_reset: z.boolean().describe('A link that sets a new password can be mailed.'),
    oidc: z
      .object({ name: z.string().describe('What to call the provider.') })
      .nullable()
      .describe('The provider at which members sign in. Null: there is none.'),
  })
  .openapi('SignInMethods');

const begunSignInSchema = z
  .object({ url: z.string().describe('Where the browser goes on, at the provider.') })
  .openapi('BegunSignIn');

interface Joined {
  accountId: string;
  userId: string;
  invitation: { id: string; email: string; role: Role };
}

type SessionOptions = Pick<AppOptions, 'engine' | 'publicUrl' | 'adminKey' | 'clientFacts' | 'log'>;

/**
 * Sign-in for browsers: an API key, or an e-mail address and a password, are exchanged for a cookie
 * that scripts cannot read. A request is signed by the cookie together with the header that names
 * the session, which no page of another site can send.
 */
export function mountSession(app: App, options: SessionOptions): void {
  const { engine } = options;
  const scope = cookieScope(options.publicUrl);
  const mount = (method: 'get' | 'post' | 'delete', path: string, handle: (c: ApiContext) => Promise<Response>) =>
    app[method](path, (c: ApiContext) => {
      c.set('route', path);
      return handle(c);
    });
  mount('post', SESSION_PATH, async (c) => {
    const input = await readInput(
      c,
      z.union([keySchema, passwordSchema]),
      '{ "api_key": … } or { "email": …, "password": … }',
    );
    if ('api_key' in input) return answerSession(c, input.api_key.trim(), options, scope);
    const { bearer } = await engine.people.signIn(input, clientOf(c, options));
    return answerSession(c, bearer, options, scope);
  });
  mount('get', SESSION_PATH, (c) => answerSession(c, requireKey(c.req.header('authorization')), options, scope));
  mount('delete', SESSION_PATH, async (c) => {
    const key = bearerKey(c.req.header('authorization'));
    if (key !== undefined) await engine.people.signOut(key);
    const id = key === undefined ? c.req.header(SESSION_HEADER) : sessionIdOf(cookieKeyOf(key));
    const isId = id !== undefined && /^[a-f0-9]{16}$/.test(id);
    return c.body(null, 204, isId ? { 'set-cookie': sessionCookie(id, undefined, scope) } : {});
  });
  mount('get', METHODS_PATH, async (c) => {
    const { passwordReset, oidc = null } = engine.people.signInMethods();
    return c.json({ data: { password_reset: passwordReset, oidc } });
  });
  mountOidc(app, {
    ...options,
    clientOf: (c) => clientOf(c, options),
    begin(bearer) {
      const id = sessionIdOf(bearer);
      return { id, cookie: sessionCookie(id, engine.sessions.begin(bearer).token, scope) };
    },
    onJoined: (c, joined, client) => record(c, options, client, joined.map(joinedEntry)),
  });
  mount('post', INVITATION_PATH, async (c) => {
    const { token } = await readInput(c, linkSchema, '{ "token": … }');
    const { accountName, email, role, expiresAt } = await engine.people.openInvitation(token);
    const data = { account_name: accountName, email, role, expires_at: epochSeconds(expiresAt) };
    return c.json({ data }, 200, { 'cache-control': 'no-store' });
  });
  mount('post', INVITED_OIDC_PATH, async (c) => {
    const { token: invitation } = await readInput(c, linkSchema, '{ "token": … }');
    const { url, flow } = await beginInvited(engine, invitation);
    const headers = { 'cache-control': 'no-store', 'set-cookie': flowCookie(options.publicUrl, flow) };
    return c.json({ data: { url } }, 200, headers);
  });
  mount('post', ACCEPT_PATH, async (c) => acceptInvitation(c, options, scope));
  mount('post', RESET_PATH, async (c) => {
    const { email } = await readInput(c, resetSchema, '{ "email": … }');
    await engine.people.requestPasswordReset(email, clientOf(c, options));
    return c.body(null, 202);
  });
  mount('post', NEW_PASSWORD_PATH, async (c) => resetPassword(c, options, scope));
}

/** The token is in the body: a link of another site makes nobody a member. */
async function beginInvited({ people }: SessionOptions['engine'], invitation: string) {
  try {
    return await people.beginOidc({ invitation });
  } catch (error) {
    if (!(error instanceof OidcRefusal)) throw error;
    throw new HeadwaterError('UNAVAILABLE', `${error.message}. Try again, or accept with a password.`, {
      cause: error,
    });
  }
}

async function acceptInvitation(c: ApiContext, options: SessionOptions, scope: CookieScope): Promise<Response> {
  const { engine } = options;
  const input = await readInput(c, acceptSchema, '{ "token": …, "name": …, "password": … }');
  const client = clientOf(c, options);
  const bearer = bearerKey(c.req.header('authorization'));
  const begun = await engine.people.accept(given({ ...input, bearer }), client);
  const { who, invitation } = begun;
  await record(c, options, client, [joinedEntry({ ...who, invitation })]);
  return answerSession(c, `${begun.bearer}.${who.accountId}`, options, scope);
}

function joinedEntry({ accountId, userId, invitation }: Joined) {
  const { id, email, role } = invitation;
  return {
    accountId,
    actorId: userId,
    actorName: email,
    action: 'acceptInvitation',
    thing: id,
    after: { email, role },
  };
}

async function resetPassword(c: ApiContext, options: SessionOptions, scope: CookieScope): Promise<Response> {
  const input = await readInput(c, newPasswordSchema, '{ "token": …, "password": … }');
  const client = clientOf(c, options);
  const { bearer, email, users } = await options.engine.people.resetPassword(input, client);
  // Each account of the person sees that the password is another one.
  const entries = users.map(({ accountId, userId }) => ({
    accountId,
    actorId: userId,
    actorName: email,
    action: 'resetPassword',
    thing: userId,
  }));
  await record(c, options, client, entries);
  return answerSession(c, bearer, options, scope);
}

async function record(
  c: ApiContext,
  { engine, log }: SessionOptions,
  { address }: SignInClient,
  entries: readonly Omit<Parameters<AppOptions['engine']['audit']['record']>[0], 'requestId' | 'address'>[],
): Promise<void> {
  const about = { ...given({ address }), requestId: c.get('requestId') };
  const recording = entries.map((entry) =>
    engine.audit.record({ ...entry, ...about }).catch((err: unknown) => {
      log.error({ err, action: entry.action }, 'a change was made that is not in the audit log');
    }),
  );
  await Promise.all(recording);
}

function clientOf(c: ApiContext, { clientFacts }: SessionOptions): SignInClient {
  const { incoming } = c.env;
  const address =
    incoming === undefined ? undefined : (clientFacts?.(incoming).clientIp ?? incoming.socket.remoteAddress);
  return given({ address, userAgent: c.req.header('user-agent') });
}

/** JSON alone: a form of another site cannot sign a browser in. */
async function readInput<S extends z.ZodType>(c: ApiContext, schema: S, shape: string): Promise<z.output<S>> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
    throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} as application/json`);
  }
  const inQuery = Object.keys(c.req.query());
  if (inQuery.length > 0)
    throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} in the body alone`, {
      fields: inQuery.map((path) => ({ path, message: 'is no parameter of this request' })),
    });
  const { incoming } = c.env;
  const text = incoming === undefined ? await c.req.text() : utf8Text(await readBodyBytes(incoming, MAX_BODY_BYTES));
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} with texts that are not too long`, {
    fields: parsed.error.issues.flatMap((issue) => {
      const { path, message } = issue;
      const names = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
      return names.map((name) => ({ path: name.join('.'), message }));
    }),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HeadwaterError('INVALID_REQUEST', 'The body is not JSON');
  }
}

/** The cookie of a member is for all accounts: which one, each request says. */
function cookieKeyOf(key: string): string {
  return readSessionBearer(key)?.token ?? key;
}

async function answerSession(
  c: ApiContext,
  key: string,
  { engine, adminKey }: SessionOptions,
  scope: CookieScope,
): Promise<Response> {
  const who = await whoIs(engine, adminKey, key);
  if (who === undefined) throw new HeadwaterError('UNAUTHORIZED', 'The API key is unknown or revoked');
  const cookieKey = cookieKeyOf(key);
  const { token, expiresAt } = engine.sessions.begin(cookieKey);
  const id = sessionIdOf(cookieKey);
  const data: z.output<typeof sessionSchema> = { id, ...who, expires_at: epochSeconds(expiresAt) };
  return c.json({ data }, 200, { 'set-cookie': sessionCookie(id, token, scope), 'cache-control': 'no-store' });
}

async function whoIs(engine: AppOptions['engine'], adminKey: string | undefined, key: string) {
  if (isAdminKey(adminKey, key)) {
    const nobody = { account_id: null, account_name: null, user_id: null, username: null, member: null };
    return { role: 'operator' as const, ...nobody };
  }
  const who = await engine.accounts.authenticate(key);
  if (who === undefined) return undefined;
  const { account, id, username, memberships = [] } = await engine.accounts.me(who);
  const { member } = who;
  return {
    role: 'account' as const,
    account_id: account.id,
    account_name: account.name,
    user_id: id,
    username,
    member:
      member === undefined
        ? null
        : { email: member.email, role: member.role, rights: rightsOf(member.role), accounts: memberships },
  };
}

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
        content: { 'application/json': { schema: z.object({ data: invitationSchema }) } },
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
      'A new person gives a name and a password. A person who is there gives the password, or is signed in with the same address. The link works once.',
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
    description: 'Ends all other sessions of the person.',
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
