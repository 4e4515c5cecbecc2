import { describeDatabaseError, isDatabaseUnavailable } from '@headwater/engine';
import { ERRORS, type ErrorCode, type ExceededLimit, type FieldError, HeadwaterError, LIMITS } from '@headwater/shared';
import type { Log } from './log.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

const AWAY = { retryAfterSeconds: 5 };

/**
 * RFC 9457, plus `error` (the same sentence as `detail`, for clients that look for that name) and
 * `request_id`.
 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: string;
  errors?: readonly FieldError[];
  /** The limit that is the reason. */
  limit?: ExceededLimit;
  /** Also the header `retry-after`. */
  retry_after_seconds?: number;
  request_id: string;
}

/** `urn:headwater:error:not-found`: stable, and made to be compared. */
function problemType(code: ErrorCode): string {
  return `urn:headwater:error:${code.toLowerCase().replaceAll('_', '-')}`;
}

/**
 * Converts an error into a problem for the caller. An error that is no HeadwaterError is a defect:
 * the log has it with the request's id, and the caller learns only that id. An unavailable database
 * is no defect.
 */
export function problemOf(thrown: unknown, requestId: string, log: Log): Problem {
  if (thrown instanceof HeadwaterError && thrown.code !== 'INTERNAL') {
    return problemOfError(thrown, requestId);
  }
  if (isDatabaseUnavailable(thrown)) {
    log.warn({ err: thrown, request_id: requestId }, 'the database could not serve a request');
    return problem('DATABASE_AWAY', `${describeDatabaseError(thrown)}; try again`, requestId, AWAY);
  }
  log.error({ err: thrown, request_id: requestId }, 'request failed unexpectedly');
  return defectProblem(requestId);
}

export function defectProblem(requestId: string): Problem {
  return problem('INTERNAL', `The request failed for a reason of ours; the log has it under ${requestId}.`, requestId);
}

export function problemOfError(error: HeadwaterError, requestId: string): Problem {
  return problem(error.code, error.message, requestId, error);
}

type Details = Pick<HeadwaterError, 'fields' | 'limit' | 'retryAfterSeconds'>;

function problem(code: ErrorCode, message: string, requestId: string, more: Partial<Details> = {}): Problem {
  const { fields = [], limit, retryAfterSeconds } = more;
  const detail = cut(message);
  return {
    type: problemType(code),
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail,
    error: detail,
    ...(fields.length > 0 ? { errors: fields.slice(0, LIMITS.maxProblemErrors).map(shown) } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    request_id: requestId,
  };
}

/** As a document of examples shows it. */
export function exampleProblem(code: ErrorCode): Problem {
  return problem(code, ERRORS[code].title, 'req_4f8d2a6b0c1e3579', EXAMPLE_DETAILS[code]);
}

const EXAMPLE_DETAILS: Partial<Record<ErrorCode, Partial<Details>>> = {
  INVALID_REQUEST: { fields: [{ path: 'limit', message: 'must be at most 100' }] },
  RATE_LIMITED: { retryAfterSeconds: 1 },
  UNAVAILABLE: { retryAfterSeconds: 5 },
  DATABASE_AWAY: AWAY,
};

function shown(field: FieldError): FieldError {
  return { ...field, path: cut(field.path), message: cut(field.message) };
}

function cut(text: string): string {
  return text.length <= LIMITS.maxProblemTextChars
    ? text
    : `${text.slice(0, LIMITS.maxProblemTextChars).toWellFormed()}…`;
}
