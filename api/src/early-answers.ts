import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExceededLimit, type HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';
import { corsHeadersOf, originsHeader } from './middleware/cors.ts';
import { PROBLEM_CONTENT_TYPE, problemOfError } from './problem.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

/** Answers that are made before a request reaches the app. Each is the last of its connection. */
export interface EarlyAnswers {
  /** A problem of HTTP itself. No route is known yet, so it has no error code. */
  problem(response: ServerResponse, status: number, detail: string, limit?: ExceededLimit): void;
  refuse(response: ServerResponse, error: HeadwaterError): void;
  /** For a request that is not HTTP, or too slow, if an answer can still be sent. */
  clientError(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): void;
  /** The bytes for a request that is left when a stop runs out of time. */
  atStop(request: IncomingMessage): string;
}

/** `corsOrigins`: pages of these may read them, as with the answers of the app. */
export function createEarlyAnswers(corsOrigins: readonly string[] = []): EarlyAnswers {
  /** Headers of the answer to `request`. */
  const headersFor = (request: IncomingMessage, requestId: string) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    return { ...corsHeadersOf(corsOrigins, path, request.headers.origin), [REQUEST_ID_HEADER]: requestId };
  };
  const send = (response: ServerResponse, status: number, requestId: string, problem: string) => {
    const headers = { ...headersFor(response.req, requestId), 'content-type': PROBLEM_CONTENT_TYPE };
    const body = Buffer.from(problem);
    response.writeHead(status, { ...headers, 'content-length': body.byteLength, connection: 'close' }).end(body);
  };
  return {
    problem(response, status, detail, limit) {
      const requestId = idOf(response.req);
      send(response, status, requestId, plainProblem(status, detail, requestId, limit));
    },
    refuse(response, error) {
      const problem = problemOfError(error, idOf(response.req));
      if (problem.retry_after_seconds !== undefined) response.setHeader('retry-after', problem.retry_after_seconds);
      send(response, problem.status, problem.request_id, JSON.stringify(problem));
    },
    clientError(error, socket) {
      // After the first byte of a response under way nothing may be put in between.
      // oxlint-disable-next-line no-underscore-dangle -- Node's own mark for that response
      const inFlight = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
      if (!socket.writable || error.code === 'ECONNRESET' || inFlight?.headersSent === true) {
        socket.destroy();
        return;
      }
      const { status, detail, limit } = CLIENT_ERRORS[error.code ?? ''] ?? { status: 400, detail: 'This is not HTTP' };
      const requestId = requestIdOf(undefined);
      // A header in an earlier packet is lost. With one allowed origin, it can only be that one.
      const origin = originIn(error.rawPacket) ?? (corsOrigins.length === 1 ? corsOrigins[0] : undefined);
      const headers = { ...originsHeader(corsOrigins, origin), [REQUEST_ID_HEADER]: requestId };
      socket.end(asBytes(status, plainProblem(status, detail, requestId, limit), headers));
      // A client that never closes its side would keep the connection forever. Node checks only
      // once for slow clients.
      const cutOff = setTimeout(() => socket.destroy(), LIMITS.drainMs).unref();
      socket.once('close', () => clearTimeout(cutOff));
    },
    atStop(request) {
      const requestId = idOf(request);
      const problem = plainProblem(503, 'The node stopped before the request was done. Send it again', requestId);
      return asBytes(503, problem, { ...headersFor(request, requestId), 'retry-after': '1' });
    },
  };
}

/** The id that the client gave, or a new one, as the app takes it. */
function idOf({ headers }: IncomingMessage): string {
  return requestIdOf([headers[REQUEST_ID_HEADER]].flat()[0]);
}

export function plainProblem(
  status: number,
  detail: string,
  requestId = requestIdOf(undefined),
  limit?: ExceededLimit,
): string {
  const title = STATUS_CODES[status] ?? '';
  return JSON.stringify({ type: 'about:blank', title, status, detail, error: detail, limit, request_id: requestId });
}

const CLIENT_ERRORS: Record<string, { status: number; detail: string; limit?: ExceededLimit }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `The headers are larger than ${LIMITS.maxHeaderBytes} bytes`,
    // Nothing beyond that is read.
    limit: platformLimit('maxHeaderBytes', LIMITS.maxHeaderBytes + 1),
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time' },
};

/**
 * Reads the header itself, because the parser gave up before it. The answer holds no data, so a
 * forged origin gains nothing.
 */
function originIn(packet: Buffer | undefined): string | undefined {
  return /^origin:[ \t]*(\S+)/im.exec(packet?.toString('latin1') ?? '')?.[1];
}

/** An answer as it goes over the wire. */
function asBytes(status: number, problem: string, headers: Record<string, string>): string {
  const length = Buffer.byteLength(problem);
  const all = { connection: 'close', 'content-type': PROBLEM_CONTENT_TYPE, ...headers, 'content-length': length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${problem}`;
}
