import type { Tracing } from '@headwater/engine';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../environment.ts';
import type { Log } from '../log.ts';
import { type HttpMetrics, knownMethod } from '../metrics.ts';
import { RUN_HEADER } from '../run-header.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../request-id.ts';

/** Names the request, and records how it ended once it has. */
export function requestLog(log: Log, metrics: HttpMetrics, tracing?: Tracing): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(c.req.header(REQUEST_ID_HEADER));
    c.set('requestId', requestId);
    c.set('route', 'none');
    await next();
    c.header(REQUEST_ID_HEADER, requestId);
    c.header('x-content-type-options', 'nosniff');
    const durationMs = performance.now() - startedAt;
    const { method } = c.req;
    const route = c.get('route');
    metrics.requestDone(method, route, c.res.status, durationMs);
    const [accountId, runId] = [c.get('accountId'), c.res.headers.get(RUN_HEADER)];
    // Only what has begun something is part of a trace.
    if (tracing !== undefined && accountId !== undefined && runId !== null)
      tracing.requestAnswered({
        accountId,
        runId,
        method: knownMethod(method),
        route,
        status: c.res.status,
        startedAtMs: Date.now() - durationMs,
      });
    const fields = { request_id: requestId, method, route, status: c.res.status };
    // Probes come every few seconds: they would bury everything else.
    const level = route.startsWith('/v1/') || c.res.status === 404 ? 'info' : 'debug';
    log[level]({ ...fields, duration_ms: Math.round(durationMs) }, 'request');
  };
}
