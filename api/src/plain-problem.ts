import { type ServerResponse, STATUS_CODES } from 'node:http';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';

/** A problem of HTTP itself, as JSON: there is no route yet whose error it could be. */
export function plainProblem(status: number, detail: string): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? '', status, detail, error: detail });
}

/** Answers with it. Whatever else the client sends is not read. */
export function writePlainProblem(response: ServerResponse, status: number, detail: string): void {
  const body = plainProblem(status, detail);
  response.writeHead(status, { 'content-type': PROBLEM_CONTENT_TYPE, connection: 'close' });
  response.end(body);
}
