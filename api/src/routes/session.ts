import { z } from '@hono/zod-openapi';
import { ERRORS, HeadwaterError, LIMITS } from '@headwater/shared';
import type { App, AppOptions } from '../app-options.ts';
import { bearerKey } from '../bearer-key.ts';
import type { ApiContext } from '../environment.ts';
import { isAdminKey, requireKey } from '../middleware/authenticate.ts';
import { describeProblem } from '../openapi/problems.ts';
import { readBodyBytes, utf8Text } from '../parameters/read-body.ts';
import { type CookieScope, cookieScope, sessionCookie, SESSION_HEADER, sessionIdOf } from '../web/session-cookie.ts';

export const SESSION_PATH = '/v1/session';
const MAX_BODY_BYTES = 4_096;

const inputSchema = z.strictObject({
  api_key: z.string().max(LIMITS.maxIdChars).openapi({ description: 'A key of an account, or the admin key.' }),
});

const sessionSchema = z
  .object({
    id: z.string().openapi({ description: `Goes into the header \`${SESSION_HEADER}\` of each request.` }),
    role: z.enum(['account', 'operator']).openapi({ description: '`operator` is the admin key.' }),
    account_id: z.string().nullable().describe('The account of the key. Null: the admin key has none.'),
    account_name: z.string().nullable().describe('The name of the account. Null: the admin key has none.'),
    user_id: z.string().nullable().describe('The user of the key. Null: the admin key has none.'),
    username: z.string().nullable().describe('The name of the user. Null: the admin key has none.'),
    expires_at: z.int().openapi({ description: 'Epoch seconds. `GET` renews it.' }),
  })
  .openapi('Session');

type SessionOptions = Pick<AppOptions, 'engine' | 'publicUrl' | 'adminKey'>;

/**
 * Sign-in for browsers: an API key is exchanged for a cookie that scripts cannot read. A request is
 * signed by the cookie together with the header that names the session, which no page of another
 * site can send.
 */
export function mountSession(app: App, options: SessionOptions): void {
  const scope = cookieScope(options.publicUrl);
  const mounted = (handle: (c: ApiContext) => Promise<Response>) => (c: ApiContext) => {
    c.set('route', SESSION_PATH);
    return handle(c);
  };
  app.post(
    SESSION_PATH,
    mounted(async (c) => answerSession(c, await readKey(c), options, scope)),
  );
  app.get(
    SESSION_PATH,
    mounted(async (c) => answerSession(c, requireKey(c.req.header('authorization')), options, scope)),
  );
  app.delete(
    SESSION_PATH,
    mounted(async (c) => {
      const key = bearerKey(c.req.header('authorization'));
      const id = key === undefined ? c.req.header(SESSION_HEADER) : sessionIdOf(key);
      const isId = id !== undefined && /^[a-f0-9]{16}$/.test(id);
      return c.body(null, 204, isId ? { 'set-cookie': sessionCookie(id, undefined, scope) } : {});
    }),
  );
}

/** JSON alone: a form of another site cannot sign a browser in. */
async function readKey(c: ApiContext): Promise<string> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
    throw new HeadwaterError('INVALID_REQUEST', 'Send { "api_key": … } as application/json');
  }
  const { incoming } = c.env;
  const text = incoming === undefined ? await c.req.text() : utf8Text(await readBodyBytes(incoming, MAX_BODY_BYTES));
  const parsed = inputSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data.api_key.trim();
  throw new HeadwaterError('INVALID_REQUEST', 'Send { "api_key": … } with a text', {
    fields: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HeadwaterError('INVALID_REQUEST', 'The body is not JSON');
  }
}

async function answerSession(
  c: ApiContext,
  key: string,
  { engine, adminKey }: SessionOptions,
  scope: CookieScope,
): Promise<Response> {
  const who = await whoIs(engine, adminKey, key);
  if (who === undefined) throw new HeadwaterError('UNAUTHORIZED', 'The API key is unknown or revoked');
  const { token, expiresAt } = engine.sessions.begin(key);
  const id = sessionIdOf(key);
  const data: z.output<typeof sessionSchema> = { id, ...who, expires_at: Math.floor(expiresAt.getTime() / 1000) };
  return c.json({ data }, 200, { 'set-cookie': sessionCookie(id, token, scope), 'cache-control': 'no-store' });
}

async function whoIs(engine: AppOptions['engine'], adminKey: string | undefined, key: string) {
  if (isAdminKey(adminKey, key)) {
    return { role: 'operator' as const, account_id: null, account_name: null, user_id: null, username: null };
  }
  const who = await engine.accounts.authenticate(key);
  if (who === undefined) return undefined;
  const user = await engine.accounts.me(who);
  const { account, id, username } = user;
  return {
    role: 'account' as const,
    account_id: account.id,
    account_name: account.name,
    user_id: id,
    username,
  };
}

export function registerSession(registry: App['openAPIRegistry']): void {
  const answer = {
    description: 'The session; the cookie is in `set-cookie`.',
    content: { 'application/json': { schema: z.object({ data: sessionSchema }) } },
  };
  const problems = {
    400: describeProblem(ERRORS.INVALID_REQUEST.title, ['INVALID_REQUEST']),
    401: describeProblem('The key is unknown or revoked, or the session has expired', ['UNAUTHORIZED']),
    500: describeProblem(ERRORS.INTERNAL.title, ['INTERNAL']),
  };
  registry.registerPath({
    method: 'post',
    path: SESSION_PATH,
    operationId: 'createSession',
    tags: ['Session'],
    summary: 'Sign a browser in with an API key',
    description: `Sets a cookie (HttpOnly, SameSite=Strict) that signs requests which name the session in the header \`${SESSION_HEADER}\`. It ends with the key, or after ${LIMITS.sessionMaxAgeMs / 3_600_000} hours without renewal.`,
    security: [],
    request: { body: { content: { 'application/json': { schema: inputSchema } } } },
    responses: { 200: answer, ...problems },
  });
  registry.registerPath({
    method: 'get',
    path: SESSION_PATH,
    operationId: 'getSession',
    tags: ['Session'],
    summary: 'Who is signed in; renews the session',
    description: 'The cookie is set anew, and lasts as long as at sign-in.',
    security: [{ apiKey: [] }],
    responses: { 200: answer, ...problems },
  });
  registry.registerPath({
    method: 'delete',
    path: SESSION_PATH,
    operationId: 'deleteSession',
    tags: ['Session'],
    summary: 'Sign the browser out',
    description: 'Takes the cookie back. Other browsers with the same key stay signed in.',
    security: [],
    responses: { 204: { description: 'The cookie is gone.' }, ...problems },
  });
}
