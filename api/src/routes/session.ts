import { z } from '@hono/zod-openapi';
import {
  type AroundJoining,
  type AroundReset,
  type NewAuditEntry,
  OidcRefusal,
  readSessionBearer,
  type SignInClient,
} from '@headwater/engine';
import { HeadwaterError, rightsOf } from '@headwater/shared';
import type { App, AppOptions } from '../app-options.ts';
import { auditedRequest } from '../audit.ts';
import { bearerKey } from '../bearer-key.ts';
import type { ApiContext } from '../environment.ts';
import { addressOf } from '../ingest/client-facts.ts';
import { keyRights } from '../key-scope.ts';
import { flowCookie, mountOidc, OIDC_PATH } from './oidc.ts';
import { mountPasskeySignIn } from './passkey-sign-in.ts';
import { isAdminKey, requireKey } from '../middleware/authenticate.ts';
import { given } from '../parameters/given.ts';
import { readJsonInput } from '../parameters/read-json-input.ts';
import { findRelyingParty } from '../passkeys/relying-party.ts';
import { epochSeconds } from '../resources/time.ts';
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
  keySchema,
  linkSchema,
  newPasswordSchema,
  passwordSchema,
  resetSchema,
  type sessionSchema,
} from './session-schemas.ts';
import type { CookieScope } from '../web/cookie.ts';
import { sessionCookie, SESSION_HEADER, sessionIdOf, sessionScope } from '../web/session-cookie.ts';

const POSTS = [
  INVITATION_PATH,
  ACCEPT_PATH,
  INVITED_OIDC_PATH,
  RESET_PATH,
  NEW_PASSWORD_PATH,
  PASSKEY_PATH,
  PASSKEY_OPTIONS_PATH,
];

/** By the pattern of their paths. */
export const SESSION_METHODS: readonly [string, string[]][] = [
  [`^${SESSION_PATH}$`, ['GET', 'POST', 'DELETE']],
  [`^(?:${METHODS_PATH}|${OIDC_PATH}(?:/callback)?)$`, ['GET']],
  [`^(?:${POSTS.join('|')})$`, ['POST']],
];

type SessionOptions = Pick<AppOptions, 'engine' | 'publicUrl' | 'adminKey' | 'clientFacts' | 'log'>;

/**
 * Sign-in for browsers: an API key, or an e-mail address and a password, are exchanged for a cookie
 * that scripts cannot read. A request is signed by the cookie together with the header that names
 * the session, which no page of another site can send.
 */
export function mountSession(app: App, options: SessionOptions): void {
  const { engine } = options;
  const scope = sessionScope(options.publicUrl);
  const mount = (method: 'get' | 'post' | 'delete', path: string, handle: (c: ApiContext) => Promise<Response>) =>
    app[method](path, (c: ApiContext) => {
      c.set('route', path);
      return handle(c);
    });
  mount('post', SESSION_PATH, async (c) => {
    const input = await readJsonInput(
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
    const passkey = findRelyingParty(options.publicUrl) !== undefined;
    return c.json({ data: { passkey, password_reset: passwordReset, oidc } });
  });
  mountOtherWays(app, options, scope);
  mount('post', INVITATION_PATH, async (c) => {
    const { token } = await readJsonInput(c, linkSchema, '{ "token": … }');
    const { accountName, email, role, expiresAt } = await engine.people.openInvitation(token);
    const data = { account_name: accountName, email, role, expires_at: epochSeconds(expiresAt) };
    return c.json({ data }, 200, { 'cache-control': 'no-store' });
  });
  mount('post', INVITED_OIDC_PATH, async (c) => {
    const { token: invitation } = await readJsonInput(c, linkSchema, '{ "token": … }');
    const { url, flow } = await beginInvited(engine, invitation);
    const headers = { 'cache-control': 'no-store', 'set-cookie': flowCookie(options.publicUrl, flow) };
    return c.json({ data: { url } }, 200, headers);
  });
  mount('post', ACCEPT_PATH, async (c) => acceptInvitation(c, options, scope));
  mount('post', RESET_PATH, async (c) => {
    const { email } = await readJsonInput(c, resetSchema, '{ "email": … }');
    await engine.people.requestPasswordReset(email, clientOf(c, options));
    return c.body(null, 202);
  });
  mount('post', NEW_PASSWORD_PATH, async (c) => resetPassword(c, options, scope));
}

function mountOtherWays(app: App, options: SessionOptions, scope: CookieScope): void {
  const { sessions } = options.engine;
  mountOidc(app, {
    ...options,
    clientOf: (c) => clientOf(c, options),
    begin(bearer) {
      const id = sessionIdOf(bearer);
      return { id, cookie: sessionCookie(id, sessions.begin(bearer).token, scope) };
    },
    aroundJoining: (c) => aroundJoining(c, options),
  });
  mountPasskeySignIn(app, {
    ...options,
    clientOf: (c) => clientOf(c, options),
    answer: (c, bearer) => answerSession(c, bearer, options, scope),
  });
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
  const input = await readJsonInput(c, acceptSchema, '{ "token": …, "name": …, "password": … }');
  const client = clientOf(c, options);
  const bearer = bearerKey(c.req.header('authorization'));
  const around = aroundJoining(c, options);
  const { bearer: begun, who } = await engine.people.accept(given({ ...input, bearer }), client, around);
  return answerSession(c, `${begun}.${who.accountId}`, options, scope);
}

function aroundJoining(c: ApiContext, options: SessionOptions): AroundJoining {
  return ({ id: thing, accountId, email: actorName, role }, join) => {
    const about = { action: 'acceptInvitation', accountId, actorName, thing };
    return audited(c, options, about, join, ({ userId }) =>
      userId === undefined ? [] : [{ ...about, actorId: userId, after: { email: actorName, role } }],
    );
  };
}

async function resetPassword(c: ApiContext, options: SessionOptions, scope: CookieScope): Promise<Response> {
  const input = await readJsonInput(c, newPasswordSchema, '{ "token": …, "password": … }');
  const client = clientOf(c, options);
  // Each account of the person sees that the password is another one.
  const around: AroundReset = (reset) =>
    audited(c, options, { action: 'resetPassword' }, reset, ({ email, users }) =>
      users.map(({ accountId, userId }) => ({ accountId, actorId: userId, actorName: email, thing: userId })),
    );
  const { bearer } = await options.engine.people.resetPassword(input, client, around);
  return answerSession(c, bearer, options, scope);
}

type EntryPart = Partial<Omit<NewAuditEntry, 'requestId' | 'address'>>;

/** The entry can name its person only when the change is made. */
function audited<T>(
  c: ApiContext,
  { engine, clientFacts }: SessionOptions,
  about: EntryPart & { action: string },
  make: () => Promise<T>,
  made: (value: T) => readonly EntryPart[],
): Promise<T> {
  const request = auditedRequest(c, clientFacts);
  const begun = { actorId: '', actorName: '', thing: c.get('route'), ...about, ...request };
  return engine.audit.change(begun, make, (value) => made(value).map((entry) => ({ ...begun, ...entry })));
}

function clientOf(c: ApiContext, { clientFacts }: SessionOptions): SignInClient {
  return given({ address: addressOf(c, clientFacts), userAgent: c.req.header('user-agent') });
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
    const nobody = { account_id: null, account_name: null, user_id: null, username: null, member: null, key: null };
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
    key:
      member === undefined
        ? { scopes: [...(who.scopes ?? ['full' as const])], resource: who.resource ?? null, rights: keyRights(who) }
        : null,
  };
}
