import type { Agent } from 'undici';
import { LIMITS } from '@headwater/shared';
import type { FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import { createByteBudget, type ByteBudget } from './byte-budget.ts';
import { decodeBody } from './decode-body.ts';
import { describeFailure } from './describe-failure.ts';
import type { Egress } from './egress.ts';
import { startExchange, type ExchangeOutcome } from './exchange.ts';
import { followRedirect } from './follow-redirect.ts';
import { prepareRequest, type HopRequest } from './guest-request.ts';
import { isEgressRefused } from './refusal.ts';

/** The `fetch` of components, made by the host. */
export interface GuestFetch {
  /**
   * Never rejects. Follows at most LIMITS.maxFetchRedirects redirects, each checked like the first URL; answers the body
   * decoded (gzip, deflate, br, zstd), at most LIMITS.maxFetchResponseBytes, without the headers that described its coding.
   * Everything together takes at most LIMITS.fetchTimeoutMs; the signal ends it sooner.
   */
  fetch(tenantId: string, request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome>;
  /** Ends every request in flight. Idempotent. */
  stop(): Promise<void>;
}

export function createGuestFetch(options: { egress: Egress; timeoutMs?: number }): GuestFetch {
  const agent = options.egress.createAgent({ connections: LIMITS.maxFetchConnectionsPerOrigin });
  const budget = createByteBudget(LIMITS.maxFetchBytesPerTenant);
  const timeoutMs = options.timeoutMs ?? LIMITS.fetchTimeoutMs;
  return {
    async fetch(tenantId, request, signal) {
      const prepared = prepareRequest(request);
      if (!prepared.ok) return prepared;
      const deadlineMs = Date.now() + timeoutMs;
      const context: HopContext = { agent, egress: options.egress, budget, tenantId, signal, deadlineMs, timeoutMs };
      return runHops(context, prepared.request, request.redirect);
    },
    stop: () => agent.destroy(),
  };
}

interface HopContext {
  agent: Agent;
  egress: Egress;
  budget: ByteBudget;
  tenantId: string;
  signal: AbortSignal;
  deadlineMs: number;
  timeoutMs: number;
}

type Response = Extract<ExchangeOutcome, { kind: 'response' }>;

async function runHops(context: HopContext, first: HopRequest, mode: FetchRequest['redirect']): Promise<FetchOutcome> {
  let hop = first;
  for (let redirects = 0; ; redirects++) {
    const outcome = await sendHop(context, hop);
    if (outcome.kind !== 'response') return fail(describeOutcome(context, hop, outcome));
    const headers = readHeaders(outcome.rawHeaders);
    const redirect = followRedirect(hop, outcome.status, headers.find(([name]) => name === 'location')?.[1]);
    if (redirect.kind === 'none' || mode === 'manual') return finish(hop, outcome, headers, redirects > 0);
    if (mode === 'error') return fail(`${hop.url.host} answered with a redirect, which this request does not allow`);
    if (redirect.kind === 'invalid') return fail(redirect.message);
    if (redirects === LIMITS.maxFetchRedirects) return fail(`More than ${LIMITS.maxFetchRedirects} redirects`);
    hop = redirect.request;
  }
}

async function sendHop(context: HopContext, hop: HopRequest): Promise<ExchangeOutcome> {
  const timeoutMs = context.deadlineMs - Date.now();
  if (context.signal.aborted) return { kind: 'aborted' };
  if (timeoutMs <= 0) return { kind: 'timeout' };
  try {
    context.egress.checkUrl(hop.url);
  } catch (error) {
    return { kind: 'error', error };
  }
  let takenBytes = 0;
  const exchange = startExchange(context.agent, {
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: hop.headers.flat(),
    ...(hop.body === undefined ? {} : { body: hop.body }),
    timeoutMs,
    maxKeptBytes: LIMITS.maxFetchResponseBytes,
    overflow: {
      kind: 'fail',
      onBytes(count) {
        if (!context.budget.take(context.tenantId, count)) return false;
        takenBytes += count;
        return true;
      },
    },
  });
  context.signal.addEventListener('abort', exchange.abort);
  try {
    return await exchange.done;
  } finally {
    context.signal.removeEventListener('abort', exchange.abort);
    context.budget.release(context.tenantId, takenBytes);
  }
}

async function finish(
  hop: HopRequest,
  response: Response,
  headers: [string, string][],
  redirected: boolean,
): Promise<FetchOutcome> {
  const coding = headers
    .filter(([name]) => name === 'content-encoding')
    .map(([, value]) => value)
    .join(',');
  const decoded = await decodeBody(response.body, coding, LIMITS.maxFetchResponseBytes);
  if (decoded.kind === 'too-large') return fail(describeTooLarge(hop));
  if (decoded.kind === 'broken') return fail(`The body from ${hop.url.host} is not valid ${coding}`);
  const isDecoded = decoded.kind === 'decoded';
  return {
    ok: true,
    status: response.status,
    statusText: response.statusText,
    headers: isDecoded ? headers.filter(([name]) => name !== 'content-encoding' && name !== 'content-length') : headers,
    url: hop.url.href,
    redirected,
    body: isDecoded ? decoded.body : response.body,
  };
}

function describeOutcome(context: HopContext, hop: HopRequest, outcome: Exclude<ExchangeOutcome, Response>): string {
  switch (outcome.kind) {
    case 'timeout':
      return `The request to ${hop.url.host} took longer than ${context.timeoutMs} ms`;
    case 'too-large':
      return describeTooLarge(hop);
    case 'aborted':
      return `The request to ${hop.url.host} was aborted`;
    case 'error':
      return isEgressRefused(outcome.error) ? outcome.error.message : describeFailure(hop.url.host, outcome.error);
  }
}

function describeTooLarge(hop: HopRequest): string {
  return `The response of ${hop.url.host} is larger than ${LIMITS.maxFetchResponseBytes} bytes, or too many are read at once`;
}

// Header bytes are Latin-1 on the wire; names in lower case as fetch shows them.
function readHeaders(raw: readonly (Buffer | string)[]): [string, string][] {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    headers.push([textOf(raw[i]).toLowerCase(), textOf(raw[i + 1])]);
  }
  return headers;
}

function textOf(part: Buffer | string | undefined): string {
  return typeof part === 'string' ? part : (part?.toString('latin1') ?? '');
}

function fail(message: string): FetchOutcome {
  return { ok: false, message };
}
