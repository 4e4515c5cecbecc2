import type { FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { FetchTenant } from '../egress/index.ts';

/** A provider's readable response, or the reason why there is none. */
export type ProviderAnswer =
  | { ok: true; status: number; body: Record<string, unknown> }
  | { ok: false; message: string; limit?: ExceededLimit };

export interface ProviderRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers?: Record<string, string>;
  body?: { type: 'form' | 'json'; values: Record<string, string> };
  /** Its answer may be a form, as those of some older token endpoints are. */
  takesForm?: boolean;
}

export type AskProvider = (accountId: string, request: ProviderRequest) => Promise<ProviderAnswer>;

export interface AskProviderOptions {
  fetch: (tenant: FetchTenant, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  limits: Pick<LimitsCache, 'get'>;
}

/**
 * Requests to token endpoints and the like. They go out like a component's `fetch`, through the
 * egress guard, on connections and in turns of the account that they are made for. Redirects are
 * refused: the body holds secrets, and is for one address.
 */
export function createAskProvider({ fetch, limits }: AskProviderOptions): AskProvider {
  return async (accountId, request) => {
    const ofAccount = await limits.get(accountId);
    const tenant: FetchTenant = {
      id: accountId,
      limits: {
        ...ofAccount,
        fetchTimeoutMs: LIMITS.providerTimeoutMs,
        maxFetchRequestBytes: Math.max(ofAccount.maxFetchRequestBytes, LIMITS.maxProviderAnswerBytes),
        maxFetchResponseBytes: LIMITS.maxProviderAnswerBytes,
      },
    };
    const outcome = await fetch(tenant, fetchRequestOf(request), AbortSignal.timeout(LIMITS.providerTimeoutMs));
    if (!outcome.ok) return failureOf(outcome);
    return { ok: true, status: outcome.status, body: readBody(outcome, request.takesForm === true) };
  };
}

function fetchRequestOf({ method, url, headers = {}, body }: ProviderRequest): FetchRequest {
  const sent = { accept: 'application/json', ...headers };
  const base = { url: url.href, method, redirect: 'error' as const };
  if (body === undefined) return { ...base, headers: Object.entries(sent) };
  const isJson = body.type === 'json';
  const text = isJson ? JSON.stringify(body.values) : new URLSearchParams(body.values).toString();
  const contentType = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  return { ...base, headers: Object.entries({ ...sent, 'content-type': contentType }), body: Buffer.from(text) };
}

/** The account's own limits of fetches do not hold here, and it could not raise those that do. */
function failureOf({ message, limit }: Extract<FetchOutcome, { ok: false }>): ProviderAnswer {
  if (limit === undefined) return { ok: false, message };
  const name = OWN_LIMITS[limit.name] ?? limit.name;
  return { ok: false, message: `${message} (${name})`, limit: { ...limit, name } };
}

const OWN_LIMITS: Partial<Record<ExceededLimit['name'], ExceededLimit['name']>> = {
  fetchTimeoutMs: 'providerTimeoutMs',
  maxFetchResponseBytes: 'maxProviderAnswerBytes',
};

/**
 * JSON, and a short form where one is taken: reading a long one holds the thread. Anything else
 * counts as nothing.
 */
function readBody(outcome: Extract<FetchOutcome, { ok: true }>, takesForm: boolean): Record<string, unknown> {
  const contentType = outcome.headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const isForm = contentType.startsWith('application/x-www-form-urlencoded');
  if (isForm && (!takesForm || outcome.body.byteLength > LIMITS.maxProviderFormBytes)) return {};
  const text = Buffer.from(outcome.body).toString('utf8');
  if (isForm) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    // Not JSON: the status is all there is to go by.
    return {};
  }
}
