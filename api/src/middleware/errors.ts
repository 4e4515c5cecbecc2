import { HeadwaterError } from '@headwater/shared';
import type { ApiContext } from '../environment.ts';
import type { Log } from '../log.ts';
import type { UnreadAnswers } from '../unread-answers.ts';
import { PROBLEM_CONTENT_TYPE, problemOf } from '../problem.ts';
import { rateLimitHeadersOf } from '../rate-limit-headers.ts';

/** Every failure of the REST API ends here: one shape for all of them. */
export function answerProblem(c: ApiContext, thrown: unknown, log: Log, unread?: UnreadAnswers): Response {
  const problem = problemOf(thrown, c.get('requestId'), log);
  const headers: Record<string, string> = { 'content-type': PROBLEM_CONTENT_TYPE, ...rateLimitHeadersOf(problem) };
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer';
  if (problem.retry_after_seconds !== undefined) headers['retry-after'] = String(problem.retry_after_seconds);
  const text = JSON.stringify(problem);
  if (c.env.outgoing !== undefined) unread?.hold(c.get('accountId') ?? '', c.env.outgoing, text.length);
  return c.body(text, problem.status as 400, headers);
}

/** Knows which methods a path has. */
export type AllowedMethods = (path: string) => readonly string[];

/** 405 with `allow` where the path exists with other methods, else 404. */
export function answerUnknownRoute(c: ApiContext, allowedMethods: AllowedMethods, log: Log): Response {
  const allowed = allowedMethods(c.req.path);
  if (allowed.length === 0) {
    return answerProblem(c, new HeadwaterError('NOT_FOUND', `There is no route ${c.req.method} ${c.req.path}`), log);
  }
  c.header('allow', allowed.join(', '));
  const message = `${c.req.path} has no method ${c.req.method}, only ${allowed.join(', ')}`;
  return answerProblem(c, new HeadwaterError('METHOD_NOT_ALLOWED', message), log);
}
