import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from '../environment.ts';
import { KEY_HEADER, REPLAYED_HEADER } from '../idempotent-answers.ts';
import { RATE_LIMIT_HEADER, RATE_LIMIT_POLICY_HEADER } from '../rate-limit-headers.ts';
import { REQUEST_ID_HEADER } from '../request-id.ts';
import { RUN_HEADER } from '../run-header.ts';
import { SESSION_PATH } from '../routes/session-schemas.ts';

const METHODS = 'GET, HEAD, POST, PUT, DELETE';
/** Not the one that names a session: pages of other origins send keys. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'if-match',
  'if-none-match',
  'last-event-id',
  KEY_HEADER,
  REQUEST_ID_HEADER,
].join(', ');
const ANSWER_HEADERS = [
  'etag',
  'retry-after',
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  REPLAYED_HEADER,
  REQUEST_ID_HEADER,
  RUN_HEADER,
].join(', ');
const PREFLIGHT_SECONDS = '600';

/**
 * Lets pages of other origins call the API with a key (Fetch Standard, 3.3). No answer allows
 * credentials, so browsers send no cookie along. `origins`: those, or `*` for all.
 */
export function cors(origins: readonly string[]): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (!isShared(c.req.path)) return next();
    const origin = c.req.header('origin');
    const allowed = allowedOrigin(origins, origin);
    if (allowed !== undefined && isPreflight(c)) {
      c.set('route', 'preflight');
      return c.body(null, 204, preflightHeaders(allowed));
    }
    await next();
    const { vary, ...headers } = originsHeader(origins, origin);
    if (vary !== undefined) c.header('vary', vary, { append: true });
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
  };
}

/** Lets a page of `origin` read an answer that the app did not make. */
export function corsHeadersOf(
  origins: readonly string[],
  path: string,
  origin: string | undefined,
): Record<string, string> {
  return isShared(path) ? originsHeader(origins, origin) : {};
}

export function originsHeader(origins: readonly string[], origin: string | undefined): Record<string, string> {
  const allowed = allowedOrigin(origins, origin);
  const vary: Record<string, string> = allowed === '*' || origins.length === 0 ? {} : { vary: 'origin' };
  if (allowed === undefined) return vary;
  return { ...vary, 'access-control-allow-origin': allowed, 'access-control-expose-headers': ANSWER_HEADERS };
}

/** The value for the browser. Undefined: pages of this origin read nothing. */
function allowedOrigin(origins: readonly string[], origin: string | undefined): string | undefined {
  if (origins.includes('*')) return '*';
  return origin !== undefined && origins.includes(origin) ? origin : undefined;
}

function isShared(path: string): boolean {
  const isOfSessions = path === SESSION_PATH || path.startsWith(`${SESSION_PATH}/`);
  return (path.startsWith('/v1/') && !isOfSessions) || path === '/openapi.json';
}

function isPreflight({ req }: ApiContext): boolean {
  return req.method === 'OPTIONS' && req.header('access-control-request-method') !== undefined;
}

function preflightHeaders(allowed: string): Record<string, string> {
  return {
    'access-control-allow-origin': allowed,
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
    ...(allowed === '*' ? {} : { vary: 'origin' }),
  };
}
