import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Interaction, Provider } from 'oidc-provider';
import type { Headwater } from './headwater.ts';

export interface OAuthServer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Path and body of every request that was made to it, oldest first. */
  requests: { path: string; body: string }[];
  /** Those to the token endpoint, as parameters. */
  tokenRequests(): URLSearchParams[];
  /** The person at the browser says no. */
  denies: boolean;
  /** Answers every request to this path with this status instead, while it is set. */
  fails: { path: string; status: number; body: string } | undefined;
  /** Claims of the person in the id_token and at `/me`, beside `sub`. */
  claims: Record<string, unknown>;
  /** Lifetime of the access tokens that are given from now on. */
  lifetimeSeconds: number;
  /** The person takes back what he has agreed to, at the provider: all tokens end. */
  revokeAll(): void;
  /** The app as an operator describes it. */
  app(overrides?: Record<string, unknown>): Record<string, unknown>;
  /** Ids of tokens that are valid now. */
  validTokens(): string[];
  stop(): Promise<void>;
}

const USER = 'user-1';

export interface OAuthServerOptions {
  /** Redirect URI that browsers may return to. */
  redirectUri: string;
}

/**
 * A real authorization server (oidc-provider) on loopback: PKCE is required, refresh tokens are
 * rotated, and one that is used twice ends all tokens of the grant. Its only user logs in and
 * agrees by himself.
 */
export async function startOAuthServer({ redirectUri }: OAuthServerOptions): Promise<OAuthServer> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const stored = new Map<string, Stored>();
  const client = { clientId: 'hw-test-client', clientSecret: 'hw-test-client-secret-0123456789' };
  const server: OAuthServer = {
    url,
    ...client,
    requests: [],
    tokenRequests: () =>
      server.requests.filter(({ path }) => path === '/token').map(({ body }) => new URLSearchParams(body)),
    denies: false,
    fails: undefined,
    claims: {},
    lifetimeSeconds: 3600,
    revokeAll: () => stored.clear(),
    app: (overrides = {}) => appOf(url, overrides),
    validTokens: () => [...stored.keys()].filter((key) => /^(AccessToken|RefreshToken):/.test(key)),
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  const provider = new Provider(url, configurationOf(server, redirectUri, stored));
  const answer = provider.callback();
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(server, provider, answer, request, response).catch(() => response.destroy());
  });
  return server;
}

type Answer = ReturnType<Provider['callback']>;

async function serve(
  server: OAuthServer,
  provider: Provider,
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname: path } = new URL(request.url ?? '/', server.url);
  server.requests.push(keepBody(path, request));
  if (server.fails?.path === path) {
    request.resume();
    response.writeHead(server.fails.status, { 'content-type': 'application/json' }).end(server.fails.body);
    return;
  }
  if (path.startsWith('/interaction/')) return interact(server, provider, request, response);
  answer(request, response);
}

/** The body is filled in as it arrives; the provider reads it from the request itself. */
function keepBody(path: string, request: IncomingMessage): { path: string; body: string } {
  const kept = { path, body: '' };
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    kept.body += chunk?.toString() ?? '';
    return push(chunk, encoding);
  };
  return kept;
}

async function interact(
  server: OAuthServer,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const result = server.denies
    ? { error: 'access_denied', error_description: 'The user said no <b>loudly</b>' }
    : details.prompt.name === 'login'
      ? { login: { accountId: USER } }
      : { consent: { grantId: await grant(provider, details) } };
  await provider.interactionFinished(request, response, result);
}

async function grant(provider: Provider, { params, session }: Interaction): Promise<string> {
  const made = new provider.Grant({ accountId: session?.accountId ?? USER, clientId: params['client_id'] ?? '' });
  made.addOIDCScope(params['scope'] ?? '');
  return made.save();
}

function appOf(url: string, overrides: Record<string, unknown>): Record<string, unknown> {
  const { oauth = {}, ...rest } = overrides as { oauth?: Record<string, unknown> };
  return {
    name: 'Loopback',
    auth_type: 'oauth2',
    fields: [],
    oauth: {
      authorize_url: `${url}/auth`,
      token_url: `${url}/token`,
      revoke_url: `${url}/token/revocation`,
      userinfo_url: `${url}/me`,
      scopes: ['openid', 'offline_access'],
      pkce: true,
      token_auth: 'basic',
      authorize_parameters: { prompt: 'consent' },
      issuer: url,
      values: { oauth_uid: 'userinfo.sub', plan: 'userinfo.plan', subject: 'id_token.sub' },
      ...oauth,
    },
    ...rest,
  };
}

interface Stored {
  payload: Record<string, unknown>;
  endsAtMs: number;
}

function configurationOf(server: OAuthServer, redirectUri: string, stored: Map<string, Stored>): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    adapter: (name: string) => memoryAdapter(name, stored),
    clients: [
      {
        client_id: server.clientId,
        client_secret: server.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a-key-for-cookies'] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true, allowedPolicy: async () => true } },
    interactions: { url: (_: unknown, { uid }: Interaction) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, plan: 'gold', ...server.claims }),
    }),
    claims: { openid: ['sub', 'plan'], email: ['email', 'email_verified'], profile: ['name'] },
    // As most providers do: the address is in the id_token.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    rotateRefreshToken: () => true,
    ttl: {
      AccessToken: () => server.lifetimeSeconds,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 60,
      RefreshToken: 3600,
      Session: 3600,
    },
  };
}

/** The storage that oidc-provider asks for, in memory. */
function memoryAdapter(name: string, stored: Map<string, Stored>): object {
  const keyOf = (id: string) => `${name}:${id}`;
  const find = (matches: (payload: Record<string, unknown>) => boolean) =>
    [...stored].find(([key, { payload }]) => key.startsWith(`${name}:`) && matches(payload))?.[1].payload;
  return {
    async upsert(id: string, payload: Record<string, unknown>, expiresIn: number) {
      stored.set(keyOf(id), { payload, endsAtMs: Date.now() + expiresIn * 1000 });
    },
    async find(id: string) {
      const entry = stored.get(keyOf(id));
      return entry !== undefined && entry.endsAtMs > Date.now() ? entry.payload : undefined;
    },
    findByUid: async (uid: string) => find((payload) => payload['uid'] === uid),
    findByUserCode: async (code: string) => find((payload) => payload['userCode'] === code),
    async destroy(id: string) {
      stored.delete(keyOf(id));
    },
    async consume(id: string) {
      const entry = stored.get(keyOf(id));
      if (entry !== undefined) entry.payload['consumed'] = Math.floor(Date.now() / 1000);
    },
    async revokeByGrantId(grantId: string) {
      for (const [key, { payload }] of stored) if (payload['grantId'] === grantId) stored.delete(key);
    },
  };
}

/**
 * Goes through a flow as a browser does, following redirects and keeping cookies, up to the URL on
 * `until`. `cookies`: those of the browser.
 */
export async function browse(from: string, until: string, cookies = new Map<string, string>()): Promise<URL> {
  let url = new URL(from);
  for (let steps = 0; steps < 20; steps++) {
    if (url.href.startsWith(until)) return url;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    const location = response.headers.get('location');
    const text = await response.text();
    if (location === null) throw new Error(`${url.href} answered ${response.status}: ${text.slice(0, 500)}`);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    url = new URL(location, url);
  }
  throw new Error(`No end after 20 redirects, at ${url.href}`);
}

/** The app in the catalogue, with its client. */
export async function addLoopbackApp(
  headwater: Pick<Headwater, 'admin'>,
  server: OAuthServer,
  overrides: Record<string, unknown> = {},
): Promise<void> {
  const { name_slug: slug = 'loopback', ...rest } = overrides;
  const made = await headwater.admin('POST', '/apps', { name_slug: slug, ...server.app(rest) });
  if (made.status !== 200) throw new Error(`The app was not added: ${made.text}`);
  const client = { client_id: server.clientId, client_secret: server.clientSecret };
  const set = await headwater.admin('PUT', `/apps/${slug as string}/oauth_client`, client);
  if (set.status !== 200) throw new Error(`The client was not set: ${set.text}`);
}

/** Starts a flow and goes through it to the callback's URL, which is not opened yet. */
export async function authorize(
  headwater: Pick<Headwater, 'url' | 'api'>,
  input: Record<string, unknown> = {},
): Promise<URL> {
  const started = await headwater.api('POST', '/connected_accounts/oauth/start', { app: 'loopback', ...input });
  if (started.status !== 200) throw new Error(`The flow did not begin: ${started.text}`);
  return browse(started.data.authorize_url, `${headwater.url}/oauth/callback`);
}

/** A whole flow; answers the id of the connected account. */
export async function connect(
  headwater: Pick<Headwater, 'url' | 'api'>,
  input: Record<string, unknown> = {},
): Promise<string> {
  const callback = await authorize(headwater, input);
  const page = await fetch(callback, { redirect: 'manual' });
  const text = await page.text();
  const id = /apn_\w+/.exec(text)?.[0];
  if (page.status !== 200 || id === undefined) throw new Error(`Not connected: ${page.status} ${text}`);
  return id;
}
