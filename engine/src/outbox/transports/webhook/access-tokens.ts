import { LIMITS } from '@headwater/shared';
import type { WebhookAuth } from '../../../contract/index.ts';
import {
  describeFailure,
  type Egress,
  type ExchangeOutcome,
  startExchange,
  type TenantConnections,
  USER_AGENT,
} from '../../../egress/index.ts';

export type ClientCredentials = Extract<WebhookAuth, { type: 'oauth2_client_credentials' }>;

/** `isNew`: nothing has been sent with it before. */
type TokenResult = { ok: true; token: string; isNew: boolean } | { ok: false; error: string };

/**
 * Access tokens of OAuth clients (RFC 6749, 4.4), each kept until shortly before it expires.
 * However many requests wait for one, it is asked for once at a time.
 */
export interface AccessTokens {
  /**
   * `key`: the account and client of the token. `refused`: a token that the receiver has rejected;
   * it is dropped.
   */
  get(key: string, of: TokenRequest, refused?: string): Promise<TokenResult>;
  /** The token that is kept; undefined where one has to be asked for. */
  known(key: string): string | undefined;
}

interface TokenRequest {
  accountId: string;
  credentials: ClientCredentials;
  timeoutMs: number;
}

export interface AccessTokensOptions {
  connections: Pick<TenantConnections, 'take'>;
  egress: Pick<Egress, 'checkUrl'>;
  maxAtOnceOf: (accountId: string) => number;
  nowMs?: () => number;
}

interface Kept {
  token: string;
  untilMs: number;
}

const MAX_KEPT = 10_000;
/**
 * A token counts as expired this long before its expiry: a request sent now may arrive that much
 * later.
 */
const EARLY_MS = 30_000;
/** The default if the answer does not say how long. RFC 6749 recommends that it does. */
const DEFAULT_LIFETIME_SECONDS = 300;
const MAX_LIFETIME_SECONDS = 24 * 3_600;
/**
 * A client that was refused is not asked for again within this time: hundreds of deliveries may
 * wait.
 */
const FAULT_MS = 2_000;
const MAX_WORD_CHARS = 100;

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { nowMs = Date.now } = options;
  const kept = new Map<string, Kept>();
  const faults = new Map<string, { error: string; untilMs: number }>();
  const asked = new Map<string, Promise<TokenResult>>();

  function known(key: string): string | undefined {
    const found = kept.get(key);
    return found !== undefined && nowMs() < found.untilMs ? found.token : undefined;
  }

  async function ask(key: string, request: TokenRequest): Promise<TokenResult> {
    const answer = await askForToken(options, request);
    if (!answer.ok) {
      remember(faults, key, { error: answer.error, untilMs: nowMs() + FAULT_MS });
      return answer;
    }
    const { token, lifetimeSeconds } = answer;
    const lifetimeMs = lifetimeSeconds * 1_000;
    // One that is short-lived serves for half of its life at least.
    const untilMs = nowMs() + Math.max(lifetimeMs / 2, lifetimeMs - EARLY_MS);
    remember(kept, key, { token, untilMs });
    return { ok: true, token, isNew: true };
  }

  return {
    known,
    async get(key, request, refused) {
      if (refused !== undefined && kept.get(key)?.token === refused) kept.delete(key);
      const token = known(key);
      if (token !== undefined) return { ok: true, token, isNew: false };
      const fault = faults.get(key);
      if (fault !== undefined && nowMs() < fault.untilMs) return { ok: false, error: fault.error };
      const underWay = asked.get(key) ?? ask(key, request).finally(() => asked.delete(key));
      asked.set(key, underWay);
      return underWay;
    },
  };
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_KEPT) map.delete(map.keys().next().value as string);
}

type Asked = { ok: true; token: string; lifetimeSeconds: number } | { ok: false; error: string };

async function askForToken(
  { connections, egress, maxAtOnceOf }: AccessTokensOptions,
  { accountId, credentials, timeoutMs }: TokenRequest,
): Promise<Asked> {
  const url = new URL(credentials.tokenUrl);
  const fail = (what: string): Asked => ({ ok: false, error: `No access token: ${what}` });
  try {
    egress.checkUrl(url);
    const connection = connections.take(accountId, url.origin, maxAtOnceOf(accountId), 'fresh');
    const outcome = await startExchange(connection, {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: headersOf(credentials),
      body: Buffer.from(formOf(credentials)),
      timeoutMs,
      maxKeptBytes: LIMITS.maxDeliveryResponseBytes,
      overflow: { kind: 'cut', maxDrainedBytes: 0 },
    }).done;
    return readAnswer(url.host, outcome, fail);
  } catch (error) {
    return fail(describeFailure(url.host, error));
  }
}

function headersOf({ clientId, clientSecret }: ClientCredentials): string[] {
  // RFC 6749, 2.3.1: both are form-encoded before they are put together.
  const [id, secret] = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1));
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const names = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  return Object.entries({ ...names, 'user-agent': USER_AGENT, authorization }).flat();
}

function formOf({ scope }: ClientCredentials): string {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
  return form.toString();
}

/** Repeats only the error code of the answer: the rest might contain the request. */
function readAnswer(host: string, outcome: ExchangeOutcome, fail: (what: string) => Asked): Asked {
  if (outcome.kind === 'error') return fail(describeFailure(host, outcome.error));
  if (outcome.kind !== 'response') return fail(`${host} did not answer in time`);
  const answer = jsonOf(outcome.body);
  const { access_token: token, expires_in: expires, error } = answer;
  if (outcome.status < 200 || outcome.status > 299 || typeof token !== 'string') {
    const word = typeof error === 'string' && /^[\w .-]+$/.test(error) ? ` ${error.slice(0, MAX_WORD_CHARS)}` : '';
    return fail(`${host} answered ${outcome.status}${word}`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) return fail(`${host} answered a token that no header can hold`);
  const seconds = Number(expires);
  const isLifetime = Number.isFinite(seconds) && seconds > 0;
  const lifetimeSeconds = Math.min(MAX_LIFETIME_SECONDS, isLifetime ? seconds : DEFAULT_LIFETIME_SECONDS);
  return { ok: true, token, lifetimeSeconds };
}

function jsonOf(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
