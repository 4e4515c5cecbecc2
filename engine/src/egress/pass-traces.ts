import type { FetchRequest } from '@headwater/sandbox-runtime';
import { spanIdOf, type TraceContexts } from '../tracing/index.ts';
import type { FetchTenant, GuestFetch } from './guest-fetch.ts';

/**
 * Adds `traceparent` and `tracestate` to requests of runs whose account wants that. A component
 * that sets them itself has decided otherwise: its request goes out as it is. The ids come from
 * this node, so no component can speak for the span of another run.
 */
export function passTraces(guestFetch: GuestFetch, contexts: Pick<TraceContexts, 'isWanted' | 'headers'>): GuestFetch {
  async function withTrace(tenant: FetchTenant, request: FetchRequest): Promise<FetchRequest> {
    const { trace } = tenant;
    if (trace === undefined || !contexts.isWanted(tenant.id) || request.headers.some(isOfTrace)) return request;
    const added = await contexts.headers(tenant.id, trace.rootId, spanIdOf(...trace.span));
    return { ...request, headers: [...request.headers, ...added] };
  }
  return {
    ...guestFetch,
    fetch: async (tenant, request, signal, repeats) =>
      guestFetch.fetch(tenant, await withTrace(tenant, request), signal, repeats),
  };
}

// Nothing that comes out of the sandbox is trusted to be what its type says.
function isOfTrace(header: unknown): boolean {
  const name: unknown = Array.isArray(header) ? header[0] : undefined;
  return typeof name === 'string' && /^(traceparent|tracestate)$/i.test(name);
}
