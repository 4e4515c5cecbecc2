import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExceededLimit, LIMITS, platformLimit } from '@headwater/shared';
import { plainProblem } from './plain-problem.ts';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';

const CLIENT_ERRORS: Record<string, { status: number; detail: string; limit?: ExceededLimit }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `The headers are larger than ${LIMITS.maxHeaderBytes} bytes`,
    // Nothing beyond that is read.
    limit: platformLimit('maxHeaderBytes', LIMITS.maxHeaderBytes + 1),
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in time' },
};

/** Answers a request that is not HTTP, or too slow, if an answer can still be sent. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // After the first byte of a response under way nothing may be put in between.
  // oxlint-disable-next-line no-underscore-dangle -- Node's own mark for that response
  const inFlight = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (!socket.writable || error.code === 'ECONNRESET' || inFlight?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, detail, limit } = CLIENT_ERRORS[error.code ?? ''] ?? { status: 400, detail: 'This is not HTTP' };
  socket.end(lastAnswer(status, plainProblem(status, detail, limit)));
  // A client that never closes its side would keep the connection forever. Node checks only once
  // for slow clients.
  const cutOff = setTimeout(() => socket.destroy(), LIMITS.drainMs).unref();
  socket.once('close', () => clearTimeout(cutOff));
}

/**
 * An answer as it goes over the wire, the last of its connection. `headers`: further lines of its
 * head.
 */
function lastAnswer(status: number, problem: string, headers = ''): string {
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-type: ${PROBLEM_CONTENT_TYPE}\r\n` +
    `${headers}content-length: ${Buffer.byteLength(problem)}\r\n\r\n${problem}`
  );
}

/**
 * For requests that nothing is known of when a stop runs out of time, such as those that wait for
 * the database.
 */
export const UNANSWERED_AT_STOP = lastAnswer(
  503,
  plainProblem(503, 'The node stopped before the request was done. Send it again'),
  'retry-after: 1\r\n',
);
