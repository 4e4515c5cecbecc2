import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { ExceededLimit } from '@headwater/shared';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';

/** A problem of HTTP itself, as JSON. No route is known yet, so it has no error code. */
export function plainProblem(status: number, detail: string, limit?: ExceededLimit): string {
  const title = STATUS_CODES[status] ?? '';
  return JSON.stringify({ type: 'about:blank', title, status, detail, error: detail, limit });
}

/** Answers with a plain problem, and reads no more from the client. */
export function writePlainProblem(
  response: ServerResponse,
  status: number,
  detail: string,
  limit?: ExceededLimit,
): void {
  const body = plainProblem(status, detail, limit);
  response.writeHead(status, { 'content-type': PROBLEM_CONTENT_TYPE, connection: 'close' });
  response.end(body);
}
