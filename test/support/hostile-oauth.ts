import { afterAll, beforeAll } from 'vitest';
import { randomToken } from '../../shared/src/index.ts';
import type { HostileWorld } from './hostile.ts';
import type { Tenant } from './hostile-tenant.ts';
import { type ReceivedRequest, type Receiver, type ScriptedAnswer, startReceiver } from './receiver.ts';
import { ADMIN_KEY, callApi } from './server.ts';

/** A provider that is as bad as an attack needs it, and its app. */
export interface EvilProvider {
  slug: string;
  url: string;
  clientSecret: string;
  receiver: Receiver;
  /** Requests to the token endpoint, as parameters. */
  tokenRequests(): URLSearchParams[];
  stop(): Promise<void>;
}

export interface EvilOptions {
  /** Answer of the token endpoint. Default: tokens. */
  token?: (request: ReceivedRequest) => ScriptedAnswer;
  /** Answer of the user endpoint. Default: a user. */
  userinfo?: (request: ReceivedRequest) => ScriptedAnswer;
  /** Further members of the app's `oauth`. */
  oauth?: Record<string, unknown>;
  fields?: unknown[];
}

export const json = (value: unknown, status = 200): ScriptedAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** One for all tests of a file, there from beforeAll on. */
export function evilProvider(world: HostileWorld, options: EvilOptions = {}): EvilProvider {
  const provider = {} as EvilProvider;
  beforeAll(async () => {
    Object.assign(provider, await startEvilProvider(world, options));
  });
  afterAll(() => provider.stop());
  return provider;
}

/** Each file gets its own app, because all accounts share the catalogue. */
export async function startEvilProvider(world: HostileWorld, options: EvilOptions = {}): Promise<EvilProvider> {
  const { token, userinfo } = options;
  const receiver = await startReceiver();
  receiver.answer = (request) => {
    if (request.url.startsWith('/token')) return token?.(request) ?? json(newTokens());
    return userinfo?.(request) ?? json({ sub: 'someone' });
  };
  const slug = `evil-${randomToken(12).toLowerCase()}`;
  const clientSecret = `client-secret-${randomToken(20)}`;
  const { url } = receiver;
  const oauth = {
    authorize_url: `${url}/authorize`,
    token_url: `${url}/token`,
    userinfo_url: `${url}/me`,
    scopes: ['all'],
    pkce: true,
    token_auth: 'body',
    values: { oauth_uid: 'userinfo.sub' },
    ...options.oauth,
  };
  const app = { name_slug: slug, name: 'Evil', auth_type: 'oauth2', fields: options.fields ?? [], oauth };
  await asOperator(world, 'POST', '/apps', app);
  await asOperator(world, 'PUT', `/apps/${slug}/oauth_client`, { client_id: 'us', client_secret: clientSecret });
  const tokenRequests = () =>
    receiver.requests
      .filter((request) => request.url.startsWith('/token'))
      .map(({ body }) => new URLSearchParams(body));
  return { slug, url, clientSecret, receiver, tokenRequests, stop: receiver.stop };
}

export function newTokens(): Record<string, unknown> {
  return {
    access_token: `access-${randomToken(24)}`,
    refresh_token: `refresh-${randomToken(24)}`,
    token_type: 'bearer',
    expires_in: 3600,
  };
}

export async function asOperator(world: HostileWorld, method: string, path: string, body: unknown): Promise<void> {
  const answer = await callApi(`${world.server.url}/v1${path}`, method, body, ADMIN_KEY);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
}

/** Begins a flow; answers its state. */
export async function beginFlow(
  tenant: Tenant,
  slug: string,
  input: Record<string, unknown> = {},
): Promise<{ state: string; url: URL }> {
  const started = await tenant.api('POST', '/connected_accounts/oauth/start', { app: slug, ...input });
  if (started.status !== 200) throw new Error(`The flow did not begin: ${started.status} ${started.text}`);
  const url = new URL(started.body.data.authorize_url as string);
  return { url, state: url.searchParams.get('state') ?? '' };
}

/** Comes to the callback as a browser does. */
export async function comeBack(
  world: HostileWorld,
  query: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const search = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  const response = await fetch(`${world.server.url}/oauth/callback?${search}`, { redirect: 'manual', headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Count of all connected accounts of the tenant; a list shows only some. */
export async function accountCountOf(world: HostileWorld, tenant: Tenant): Promise<number> {
  const rows = await world.sql`select count(*)::int as count from connected_accounts where account_id = ${tenant.id}`;
  return rows[0]?.['count'] as number;
}

/** Ids of the tenant's connected accounts, the newest hundred. */
export async function accountIdsOf(tenant: Tenant): Promise<string[]> {
  const { body } = await tenant.api('GET', '/connected_accounts?limit=100');
  return (body.data as { id: string }[]).map(({ id }) => id);
}
