import {
  createByteBudget,
  type ByteBudget,
  type AccountLimits,
  createActiveTenants,
  LIMITS,
  type ActiveTenants,
  createReadPacer,
  type ReadPacer,
} from '@headwater/shared';
import type { FetchMeter, FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import { type DecodedBody, decodeBody } from './decode-body.ts';
import type { Egress } from './egress.ts';
import { startExchange, type ExchangeOutcome, type ExchangeRequest } from './exchange.ts';
import {
  fetchFailure,
  failAborted,
  failBudget,
  failExchange,
  failOfRun,
  failRedirects,
  failTimeout,
  failTooLarge,
  failTurn,
  failRefused,
  type FetchFailure,
} from './fetch-failure.ts';
import { createFetchTurns, type FetchTurns } from './fetch-turns.ts';
import { followRedirect } from './follow-redirect.ts';
import { prepareRequest, type HopRequest } from './guest-request.ts';
import { createInTurn, type InTurn } from './in-turn.ts';
import { isEgressRefused } from './refusal.ts';
import { startRepeatable, type TakeConnection } from './repeat-unanswered.ts';
import type { SpanKey } from '../tracing/index.ts';
import { createTenantConnections, type TenantConnections } from './tenant-connections.ts';
import { createTurnSteps } from './turn-steps.ts';

/** Whom a request is made for, and what may be used for it. */
export interface FetchTenant {
  id: string;
  limits: AccountLimits;
  /** The trace and the span that the request belongs to. Absent: none. */
  trace?: { rootId: string; span: SpanKey } | undefined;
}

export type GuestFetchOutcome = Extract<FetchOutcome, { ok: true }> | FetchFailure;

/**
 * Requests that are sent again at once if their idle connection had been closed (startRepeatable).
 * Default: `idempotent` methods. `all`: for requests that are retried in any case.
 */
type Repeats = 'idempotent' | 'all';

/** The `fetch` of components, made by the host. */
export interface GuestFetch {
  /**
   * Never rejects. Follows at most LIMITS.maxFetchRedirects redirects, each checked like the first
   * URL; answers the body decoded (gzip, deflate, br, zstd), at most maxFetchResponseBytes, without
   * the headers that described its coding. Everything together takes at most fetchTimeoutMs; the
   * signal ends it sooner. Each request, redirected ones too, waits for its turn among at most
   * maxConnections and maxFetchesPerSecond of the tenant. Connections are the tenant's alone.
   */
  fetch(tenant: FetchTenant, request: FetchRequest, signal: AbortSignal, repeats?: Repeats): Promise<GuestFetchOutcome>;
  /** Ends every request in flight. Idempotent. */
  stop(): Promise<void>;
}

export interface GuestFetchOptions {
  egress: Egress;
  /** Active tenants of the node. Default: tenants that fetch. */
  activeTenants?: ActiveTenants;
}

export function createGuestFetch({ egress, activeTenants = createActiveTenants() }: GuestFetchOptions): GuestFetch {
  const connections = createTenantConnections({ egress });
  const budget = createByteBudget(LIMITS.maxFetchBytesPerTenant);
  const pace = createReadPacer({
    activeTenants,
    bytesPerSecond: LIMITS.fetchReadBytesPerSecond,
    burstMs: LIMITS.fetchReadBurstMs,
  });
  const [turns, inTurn, steps] = [createFetchTurns(), createInTurn(), createTurnSteps(activeTenants)];
  const shared = { egress, connections, budget, pace, turns, inTurn, steps };
  return {
    async fetch(tenant, request, signal, repeats = 'idempotent') {
      const prepared = prepareRequest(request, tenant.limits);
      if (!prepared.ok) return prepared;
      const held = holdBytes(budget, tenant.id);
      try {
        const startedAtMs = performance.now();
        const context: FetchContext = { ...shared, tenant, held, meter: request.meter, signal, startedAtMs, repeats };
        const bodyBytes = prepared.request.body?.byteLength ?? 0;
        if (!held.take(bodyBytes)) return failBudget(prepared.request.url.host, held.ofTenant() + bodyBytes);
        return await runHops(context, prepared.request, request.redirect);
      } finally {
        held.releaseAll();
      }
    },
    stop: connections.stop,
  };
}

/** Bytes that one fetch has of its tenant's budget. */
interface HeldBytes {
  take(count: number): boolean;
  /** By all fetches of the tenant. */
  ofTenant(): number;
  releaseAll(): void;
}

interface FetchContext {
  egress: Egress;
  connections: TenantConnections;
  pace: ReadPacer;
  turns: FetchTurns;
  steps: ReturnType<typeof createTurnSteps>;
  inTurn: InTurn;
  tenant: FetchTenant;
  held: HeldBytes;
  meter: FetchMeter | undefined;
  signal: AbortSignal;
  startedAtMs: number;
  repeats: Repeats;
}

type Response = Extract<ExchangeOutcome, { kind: 'response' }>;

async function runHops(
  context: FetchContext,
  first: HopRequest,
  mode: FetchRequest['redirect'],
): Promise<GuestFetchOutcome> {
  let hop = first;
  for (let redirects = 0; ; redirects++) {
    const outcome = await sendHop(context, hop);
    if ('ok' in outcome) return outcome;
    const headers = readHeaders(outcome.rawHeaders);
    const redirect = followRedirect(hop, outcome.status, headers.find(([name]) => name === 'location')?.[1]);
    if (redirect.kind === 'none' || mode === 'manual') return finish(context, hop, outcome, headers, redirects > 0);
    if (mode === 'error')
      return fetchFailure(`${hop.url.host} answered with a redirect, which this request does not allow`);
    if (redirect.kind === 'invalid') return fetchFailure(redirect.message, redirect.limit);
    if (redirects === LIMITS.maxFetchRedirects) return failRedirects(redirects + 1);
    const exceeded = context.meter?.redirected(redirect.request.body?.byteLength ?? 0);
    if (exceeded !== undefined) return failOfRun(hop.url.host, exceeded);
    hop = redirect.request;
  }
}

async function sendHop(context: FetchContext, hop: HopRequest): Promise<Response | FetchFailure> {
  const { host } = hop.url;
  const { id, limits } = context.tenant;
  if (context.signal.aborted) return failAborted(host);
  try {
    context.egress.checkUrl(hop.url);
  } catch (error) {
    if (isEgressRefused(error)) return failRefused(error);
    throw error;
  }
  const waitMs = msLeft(context);
  if (waitMs <= 0) return failTimeout(host, limits, msTaken(context));
  const turn = await context.turns.take(id, limits, waitMs, context.signal);
  if (turn.kind === 'aborted') return failAborted(host);
  if (turn.kind === 'refused') return failTurn(host, turn.limit);
  try {
    await context.steps(id);
    const outcome = await exchangeHop(context, hop);
    await context.steps(id);
    if (outcome.kind === 'response') return outcome;
    const now = { tookMs: msTaken(context), heldBytes: context.held.ofTenant() };
    return failExchange(host, outcome, limits, now);
  } finally {
    turn.end();
  }
}

/** RFC 9110, 9.2.2: the same request twice does what one does. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

async function exchangeHop(context: FetchContext, hop: HopRequest): Promise<ExchangeOutcome> {
  const { id, limits } = context.tenant;
  // It may have been aborted at the moment it got its turn.
  if (context.signal.aborted) return { kind: 'aborted' };
  const take: TakeConnection = (fresh) => context.connections.take(id, hop.url.origin, limits.maxConnections, fresh);
  const request: ExchangeRequest = {
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: hop.headers.flat(),
    ...(hop.body === undefined ? {} : { body: hop.body }),
    timeoutMs: Math.max(1, msLeft(context)),
    maxKeptBytes: limits.maxFetchResponseBytes,
    onBody: (bytes) => context.meter?.received(bytes),
    overflow: {
      kind: 'fail',
      onBytes: context.held.take,
      waitMs: (count) => context.pace.waitMs(id, count),
    },
  };
  const mayRepeat = context.repeats === 'all' || IDEMPOTENT.has(hop.method);
  const exchange = mayRepeat ? startRepeatable(take, request) : startExchange(take(), request);
  context.signal.addEventListener('abort', exchange.abort);
  try {
    return await exchange.done;
  } finally {
    context.signal.removeEventListener('abort', exchange.abort);
  }
}

/**
 * Decodes bodies of one tenant one at a time: a few bytes can decode to millions, and neither this
 * memory nor the threads that do it are one tenant's.
 */
async function finish(
  context: FetchContext,
  hop: HopRequest,
  response: Response,
  headers: [string, string][],
  redirected: boolean,
): Promise<GuestFetchOutcome> {
  const { id, limits } = context.tenant;
  const { host, href: url } = hop.url;
  const { status, statusText, body } = response;
  const coding = headers
    .filter(([name]) => name === 'content-encoding')
    .map(([, value]) => value)
    .join(',');
  if (coding === '') return { ok: true, status, statusText, headers, url, redirected, body };
  const decoded = await context.inTurn(id, async () =>
    context.signal.aborted || msLeft(context) <= 0
      ? 'late'
      : decodeBody(body, coding, limits.maxFetchResponseBytes, 'partly'),
  );
  if (decoded === 'late') return failTimeout(host, limits, msTaken(context));
  const moreBytes = decodedBytes(decoded, limits.maxFetchResponseBytes) - body.byteLength;
  const exceeded = moreBytes > 0 ? context.meter?.received(moreBytes) : undefined;
  if (exceeded !== undefined) return failOfRun(host, exceeded);
  if (decoded.kind === 'too-large') return failTooLarge(host, limits, limits.maxFetchResponseBytes + 1);
  if (decoded.kind === 'broken') return fetchFailure(`The body from ${host} is not valid ${coding}`);
  if (decoded.kind === 'unchanged') return { ok: true, status, statusText, headers, url, redirected, body };
  const { byteLength } = decoded.body;
  if (!context.held.take(byteLength)) return failBudget(host, context.held.ofTenant() + byteLength);
  const rest = headers.filter(([name]) => name !== 'content-encoding' && name !== 'content-length');
  return { ok: true, status, statusText, headers: rest, url, redirected, body: decoded.body };
}

/** Number of decoded bytes; one over the limit if decoding stopped there. */
function decodedBytes(decoded: DecodedBody, maxBytes: number): number {
  if (decoded.kind === 'too-large') return maxBytes + 1;
  return decoded.kind === 'decoded' ? decoded.body.byteLength : 0;
}

function holdBytes(budget: ByteBudget, tenantId: string): HeldBytes {
  let heldBytes = 0;
  return {
    take(count) {
      if (!budget.take(tenantId, count)) return false;
      heldBytes += count;
      return true;
    },
    ofTenant: () => budget.held(tenantId),
    releaseAll: () => budget.release(tenantId, heldBytes),
  };
}

function msTaken({ startedAtMs }: FetchContext): number {
  return performance.now() - startedAtMs;
}

function msLeft(context: FetchContext): number {
  return context.tenant.limits.fetchTimeoutMs - msTaken(context);
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
