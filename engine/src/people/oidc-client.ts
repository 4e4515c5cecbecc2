import { createHash, randomBytes } from 'node:crypto';
import type { createRemoteJWKSet } from 'jose';

/** A provider of sign-ins, as the operator has set it. */
export interface OidcOptions {
  /** `https://login.example.com`, as the provider spells it. */
  issuer: string;
  clientId: string;
  /** Absent: a public client, which PKCE alone protects. */
  clientSecret?: string;
  /** The name on the button. Default: the host of the issuer. */
  name?: string;
  /** Only addresses of these domains, in lower case. Default: all. */
  emailDomains?: readonly string[];
}

/** A sign-in under way. It is the browser's to keep, sealed. */
export interface OidcFlow {
  state: string;
  nonce: string;
  verifier: string;
  endsAtMs: number;
  /** The path of the UI to end at. */
  from: string;
  /** The token of the invitation with which it began. */
  invitation?: string;
}

export interface OidcIdentity {
  email: string;
  name?: string;
}

/**
 * - `denied`: the person, or the provider, said no.
 * - `expired`: there is no such sign-in under way in this browser, or not any more.
 * - `unverified`: the provider does not say that the address is the person's.
 * - `domain`: addresses of this domain do not sign in here.
 * - `not_invited`: nobody here has the address, and the sign-in began without an invitation.
 * - `other_address`: the invitation with which it began is for another address.
 * - `invitation_ended`: it was used or revoked since, or has expired.
 * - `full`: its account has as many members as it may.
 * - `failed`: the provider did not answer as it should.
 */
export type OidcRefusalReason =
  | 'denied'
  | 'expired'
  | 'unverified'
  | 'domain'
  | 'not_invited'
  | 'other_address'
  | 'invitation_ended'
  | 'full'
  | 'failed';

/** Thrown when a sign-in with the provider ends without a session. */
export class OidcRefusal extends Error {
  readonly reason: OidcRefusalReason;

  constructor(reason: OidcRefusalReason, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

export interface OidcClient {
  /** The URL to send the browser to. Throws OidcRefusal `failed`. */
  begin(from: string): Promise<{ url: string; flow: OidcFlow }>;
  /** The person of the answer that the browser came back with. Throws OidcRefusal. */
  finish(flow: OidcFlow, parameters: URLSearchParams): Promise<OidcIdentity>;
}

interface Provider {
  authorizationUrl: string;
  tokenUrl: string;
  userinfoUrl: string | undefined;
  takesBasic: boolean;
  keys: ReturnType<typeof createRemoteJWKSet>;
  readAtMs: number;
}

const FLOW_MS = 10 * 60_000;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const PROVIDER_MS = 60 * 60_000;
/** Clocks of two servers. */
const CLOCK_SECONDS = 60;
/** Signatures alone: a MAC would be made with the client's secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

const random = () => randomBytes(32).toString('base64url');

/** The authorization code flow with PKCE of OpenID Connect, with one provider. */
export function createOidcClient(options: OidcOptions, redirectUri: string): OidcClient {
  const { issuer, clientId } = options;
  const provider = rememberProvider(issuer);
  return {
    async begin(from) {
      const { authorizationUrl } = await provider().catch(failed);
      const flow = { state: random(), nonce: random(), verifier: random(), endsAtMs: Date.now() + FLOW_MS, from };
      const url = new URL(authorizationUrl);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: createHash('sha256').update(flow.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, flow };
    },
    async finish(flow, parameters) {
      if (flow.endsAtMs < Date.now() || parameters.get('state') !== flow.state)
        throw new OidcRefusal('expired', 'The sign-in is not the one that this browser has begun');
      if (parameters.has('error')) throw new OidcRefusal('denied', `The provider answered ${parameters.get('error')}`);
      const by = parameters.get('iss');
      if (by !== null && by !== issuer) throw new OidcRefusal('failed', 'Another provider answered');
      try {
        const found = await provider();
        const body = { code: parameters.get('code') ?? '', redirect_uri: redirectUri, code_verifier: flow.verifier };
        const { id_token: idToken, access_token: accessToken } = await redeem(found, options, body);
        if (typeof idToken !== 'string') throw new Error('The provider answered no id_token');
        const claims = await verify(found, options, idToken, flow.nonce);
        return identityOf(await withUserinfo(found, claims, accessToken), options);
      } catch (error) {
        return failed(error);
      }
    },
  };
}

/** Asks again after an hour, and where it has not answered. */
function rememberProvider(issuer: string): () => Promise<Provider> {
  let known: Promise<Provider> | undefined;
  return async () => {
    const found = await (known ??= discover(issuer)).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    if (Date.now() - found.readAtMs > PROVIDER_MS) known = undefined;
    return found;
  };
}

async function redeem(
  { tokenUrl, takesBasic }: Provider,
  { clientId, clientSecret }: OidcOptions,
  parameters: Record<string, string>,
): Promise<Record<string, unknown>> {
  const body = new URLSearchParams({ grant_type: 'authorization_code', ...parameters });
  const headers: Record<string, string> = { accept: 'application/json' };
  if (clientSecret !== undefined && takesBasic) {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  } else {
    body.set('client_id', clientId);
    if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  }
  return readJson(tokenUrl, { method: 'POST', headers, body });
}

async function verify(
  { keys }: Provider,
  { issuer, clientId }: OidcOptions,
  idToken: string,
  nonce: string,
): Promise<Record<string, unknown>> {
  const { jwtVerify } = await import('jose');
  const { payload } = await jwtVerify(idToken, keys, {
    issuer,
    audience: clientId,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_SECONDS,
    requiredClaims: ['sub', 'exp', 'iat'],
  });
  if (payload['nonce'] !== nonce) throw new Error('The id_token has another nonce');
  const isForSeveral = Array.isArray(payload.aud) && payload.aud.length > 1;
  if ((payload['azp'] ?? (isForSeveral ? undefined : clientId)) !== clientId)
    throw new Error('The id_token was made for another client');
  return payload;
}

/** Some providers tell the address there alone. */
async function withUserinfo(
  { userinfoUrl }: Provider,
  claims: Record<string, unknown>,
  accessToken: unknown,
): Promise<Record<string, unknown>> {
  if (typeof claims['email'] === 'string' || userinfoUrl === undefined || typeof accessToken !== 'string')
    return claims;
  const found = await readJson(userinfoUrl, { headers: { authorization: `Bearer ${accessToken}` } });
  if (found['sub'] !== claims['sub']) throw new Error('The userinfo is of another person');
  return { ...found, ...claims };
}

function identityOf(claims: Record<string, unknown>, { emailDomains }: OidcOptions): OidcIdentity {
  const { email: given, email_verified: isVerified, name } = claims;
  if (typeof given !== 'string' || isVerified !== true)
    throw new OidcRefusal('unverified', 'The provider does not say that the address is verified');
  const email = given.trim().toLowerCase();
  if (emailDomains !== undefined && !emailDomains.includes(email.split('@').at(-1) ?? ''))
    throw new OidcRefusal('domain', 'The address is of a domain that does not sign in here');
  return { email, ...(typeof name === 'string' && name.trim() !== '' ? { name: name.trim() } : {}) };
}

function failed(cause: unknown): never {
  if (cause instanceof OidcRefusal) throw cause;
  throw new OidcRefusal('failed', 'The provider did not answer as it should', { cause });
}

async function discover(issuer: string): Promise<Provider> {
  const found = await readJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {});
  if (found['issuer'] !== issuer) throw new Error(`The provider calls itself ${String(found['issuer'])}`);
  const urlOf = (name: string) => {
    const value = found[name];
    if (typeof value === 'string' && URL.canParse(value)) return value;
    throw new Error(`The provider has no ${name}`);
  };
  const methods = found['token_endpoint_auth_methods_supported'];
  // Loaded with the first provider: nodes without one do not need its forty files.
  const { createRemoteJWKSet } = await import('jose');
  return {
    authorizationUrl: urlOf('authorization_endpoint'),
    tokenUrl: urlOf('token_endpoint'),
    userinfoUrl: found['userinfo_endpoint'] === undefined ? undefined : urlOf('userinfo_endpoint'),
    takesBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
    keys: createRemoteJWKSet(new URL(urlOf('jwks_uri')), { timeoutDuration: TIMEOUT_MS }),
    readAtMs: Date.now(),
  };
}

async function readJson(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  let text = '';
  const decoder = new TextDecoder();
  const pieces: AsyncIterable<Uint8Array> | Uint8Array[] = response.body ?? [];
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_ANSWER_BYTES) throw new Error(`${url} answers without end`);
  }
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${url} answered no JSON object`);
}
