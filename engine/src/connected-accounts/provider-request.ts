import type { FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import { LIMITS } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { FetchTenant } from '../egress/guest-fetch.ts';

/** What a provider answered, as far as it could be read; or that it did not. */
export type ProviderAnswer =
  | { ok: true; status: number; body: Record<string, unknown> }
  | { ok: false; message: string };

export interface ProviderRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers?: Record<string, string>;
  body?: { type: 'form' | 'json'; values: Record<string, string> };
}

export type AskProvider = (accountId: string, request: ProviderRequest) => Promise<ProviderAnswer>;

export interface AskProviderOptions {
  fetch: (tenant: FetchTenant, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  limits: Pick<LimitsCache, 'get'>;
}

/**
 * Requests to token endpoints and the like. They go out like a component's `fetch`, through the egress guard, on connections
 * and in turns of the account that they are made for. Redirects are refused: the body holds secrets, and is for one address.
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
    if (!outcome.ok) return { ok: false, message: outcome.message };
    return { ok: true, status: outcome.status, body: readBody(outcome) };
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

/** Token endpoints answer JSON; some older ones a form. Anything else counts as nothing. */
function readBody(outcome: Extract<FetchOutcome, { ok: true }>): Record<string, unknown> {
  const text = Buffer.from(outcome.body).toString('utf8');
  const contentType = outcome.headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  if (contentType.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    // Not JSON: the status is all there is to go by.
    return {};
  }
}
