import { type IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { RateLimitState } from '@headwater/engine';
import { type HttpResponse, LIMITS } from '@headwater/shared';
import { PROBLEM_CONTENT_TYPE, type Problem } from '../problem.ts';
import { REQUEST_ID_HEADER } from '../request-id.ts';
import {
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  rateLimitHeaders,
  rateLimitHeadersOf,
} from '../rate-limit-headers.ts';
import { RUN_HEADER } from '../run-header.ts';
import { ENDPOINT_PREFIX, type EndpointAddress } from './endpoint-address.ts';

const ACCEPTED = Buffer.from('{"status":"ok"}');

const EXPOSED = `${RUN_HEADER}, ${RATE_LIMIT_HEADER}, ${RATE_LIMIT_POLICY_HEADER}`;
const EXPOSED_OF_PROBLEMS = `${EXPOSED}, ${REQUEST_ID_HEADER}, retry-after`;

const ACCEPTED_HEADERS = {
  'content-type': 'application/json',
  'content-length': ACCEPTED.length,
  // Endpoints are called from pages of any origin; there is nothing in this answer to protect.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
};

/** Errors after it have these headers too. */
export function setRateLimit(response: ServerResponse, state: RateLimitState): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(state))) response.setHeader(name, value);
}

/** Answers for an endpoint whose source does not respond itself. The request is already stored. */
export function writeAccepted(request: IncomingMessage, response: ServerResponse, runId: string): void {
  const more = request.method === 'OPTIONS' ? preflightHeaders(request) : undefined;
  response.writeHead(200, { ...ACCEPTED_HEADERS, [RUN_HEADER]: runId, ...more });
  response.end(ACCEPTED);
}

/**
 * Answers for a source that responds itself, where this node does not run the request to its end.
 * The request is stored, and a client that sends it again makes a second one.
 */
export function writeKept(response: ServerResponse, detail: string): void {
  const body = Buffer.from(JSON.stringify({ status: 'accepted', detail }));
  response.writeHead(202, { ...ACCEPTED_HEADERS, 'content-length': body.length });
  response.end(body);
}

/**
 * Fetch Standard, 3.3: what browsers ask before they let a page call another origin. Such a request
 * has no body.
 */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    (headers['content-length'] ?? '0') === '0' &&
    headers['transfer-encoding'] === undefined
  );
}

export function writePreflightAnswer(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, preflightHeaders(request));
  response.end();
}

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];

function preflightHeaders({ headers }: IncomingMessage) {
  const { 'access-control-request-headers': asked, 'access-control-request-method': method = 'GET' } = headers;
  const methods = METHODS.includes(method) ? METHODS : [...METHODS, method];
  return {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': methods.join(', '),
    ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
    'access-control-max-age': '600',
  };
}

// The connection is ours, and the length is that of the body we write.
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

// These act on the whole host, which one tenant's endpoint shares with all others and with the API:
// browsers report every URL that they open there, or send passwords for one endpoint to the others.
const HOST_WIDE_HEADERS = new Set([
  'accept-ch',
  'alt-svc',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'report-to',
  'sec-session-registration',
  'secure-session-registration',
  'service-worker-allowed',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
  'www-authenticate',
]);

// This one, as cookies with a domain, acts on hosts beside the endpoint's own as well: browsers
// delete the cookies of the whole site.
const SITE_WIDE_HEADERS = new Set(['clear-site-data']);

// Gives a page served by a component an origin of its own: its script cannot read the API or
// another endpoint as the person who opened it.
const ISOLATE_PAGE = 'sandbox allow-forms allow-modals allow-popups allow-scripts';

/**
 * Writes the run's response, without headers that HTTP forbids. If the endpoint shares its host,
 * headers and cookies that affect other endpoints are dropped or confined. Throws for an invalid
 * status.
 */
export function writeRunResponse(
  response: ServerResponse,
  answer: HttpResponse,
  { key, ownHost }: EndpointAddress,
): void {
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!isSendable(name, value, ownHost)) continue;
    const isCookie = name.toLowerCase() === 'set-cookie';
    response.setHeader(name, isCookie ? confineCookies(value, ownHost ? undefined : key) : value);
  }
  if (!ownHost) response.appendHeader('content-security-policy', ISOLATE_PAGE);
  const hasBody = answer.status !== 204 && answer.status !== 304;
  if (hasBody) response.setHeader('content-length', answer.body.byteLength);
  response.writeHead(answer.status);
  response.end(hasBody ? answer.body : undefined);
}

/**
 * More than browsers know attributes: there is room for 64 K empty ones, and each is looked at.
 * What follows is left out.
 */
const MAX_COOKIE_PARTS = 64;

/**
 * Browsers send a cookie to where its path and domain say: to all endpoints of the host, or to
 * other hosts of the operator. `key`: of an endpoint that shares its host.
 */
function confineCookies(value: string | string[], key: string | undefined): string[] {
  const taken = key === undefined ? /^domain\s*(=|$)/i : /^(path|domain)\s*(=|$)/i;
  return [value].flat().map((cookie) => {
    const [pair = '', ...attributes] = cookie.split(';', MAX_COOKIE_PARTS).map((part) => part.trim());
    const kept = attributes.filter((attribute) => !taken.test(attribute));
    return [pair, ...kept, ...(key === undefined ? [] : [`Path=${ENDPOINT_PREFIX}${key}`])].join('; ');
  });
}

/**
 * The sandbox has checked what the component gave; one that got around it must not bring an
 * exception here.
 */
function isSendable(name: string, value: string | string[], ownHost: boolean): boolean {
  const lower = name.toLowerCase();
  if (CONNECTION_HEADERS.has(lower) || SITE_WIDE_HEADERS.has(lower) || lower === RUN_HEADER) return false;
  if (!ownHost && HOST_WIDE_HEADERS.has(lower)) return false;
  try {
    validateHeaderName(name);
    for (const text of [value].flat()) validateHeaderValue(name, text);
    return true;
  } catch {
    return false;
  }
}

/** A run that does not answer can be found as well, and was counted. */
const STAYS = new Set([RUN_HEADER, RATE_LIMIT_HEADER, RATE_LIMIT_POLICY_HEADER]);

/** A problem document; then the rest of the request's body is read away, within bounds. */
export function writeProblem(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy(); // half an answer cannot become an error: the client must see that it broke
    return;
  }
  for (const name of response.getHeaderNames()) if (!STAYS.has(name)) response.removeHeader(name);
  const body = Buffer.from(JSON.stringify(problem));
  response.writeHead(problem.status, {
    'content-type': PROBLEM_CONTENT_TYPE,
    'content-length': body.length,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': EXPOSED_OF_PROBLEMS,
    [REQUEST_ID_HEADER]: problem.request_id,
    ...rateLimitHeadersOf(problem),
    ...(problem.retry_after_seconds === undefined ? {} : { 'retry-after': String(problem.retry_after_seconds) }),
  });
  if (request.complete || !announcesBody(request)) response.end(body);
  else {
    response.write(body);
    drainThenEnd(request, response);
  }
}

function announcesBody(request: IncomingMessage): boolean {
  return request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
}

/**
 * Closing while the client still sends makes its kernel throw away the answer (connection reset).
 * So the answer is written, what comes in is dropped up to a bound, and only then the response
 * ends.
 */
function drainThenEnd(request: IncomingMessage, response: ServerResponse): void {
  let bytesLeft: number = LIMITS.maxDrainBytes;
  const stop = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', stop);
  };
  const cut = () => {
    stop();
    response.end(() => request.socket.destroySoon());
  };
  const onEnd = () => {
    stop();
    response.end();
  };
  const onData = (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) cut();
  };
  const timer = setTimeout(cut, LIMITS.drainMs);
  timer.unref();
  request.on('data', onData).on('end', onEnd).on('close', stop);
}
