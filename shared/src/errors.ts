import type { ExceededLimit } from './exceeded-limit.ts';

/**
 * The registry of every error a user can see: code → HTTP status and title. Codes are stable;
 * messages are not. The API renders them as RFC 9457 problem documents with a top-level `error`
 * string beside.
 */
export const ERRORS = {
  INVALID_REQUEST: { status: 400, title: 'The request is not valid' },
  INVALID_COMPONENT: { status: 400, title: 'The component code cannot be used' },
  NO_RESPONSE: { status: 400, title: 'The run ended without the answer that was due' },
  INVALID_PROPS: { status: 400, title: 'The configured props are not valid' },
  UNAUTHORIZED: { status: 401, title: 'No valid API key was given' },
  FORBIDDEN: { status: 403, title: 'This key may not do that' },
  ACCOUNT_SUSPENDED: { status: 403, title: 'The account is suspended' },
  NOT_FOUND: { status: 404, title: 'No such resource' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'This resource does not have that method' },
  CONFLICT: { status: 409, title: 'The resource is not in a state that allows this' },
  PRECONDITION_FAILED: { status: 412, title: 'The resource was changed meanwhile' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The request body is too large' },
  UNSUPPORTED_ENCODING: { status: 415, title: 'The request body is encoded in a way that is not read here' },
  HOOK_FAILED: { status: 422, title: 'A lifecycle hook of the component failed' },
  AUTH_FAILED: { status: 422, title: 'A connected account cannot be used' },
  KEY_REUSED: { status: 422, title: 'The idempotency key belongs to another request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL: { status: 500, title: 'Something went wrong on our side' },
  UNAVAILABLE: { status: 503, title: 'The service is not ready' },
  /** 503, not 403: a sender that gets it keeps the request and sends it again. */
  ENDPOINT_SUSPENDED: { status: 503, title: 'The account of this endpoint is suspended' },
  DATABASE_AWAY: { status: 503, title: 'The database is away, or takes nothing now' },
  /** Ends a run as well, where it is no form that is filled in. */
  CONFIGURATION_ERROR: { status: 400, title: 'The component does not accept how it is configured' },
  // What ends a run. They are recorded with the run and never become an API status of their own.
  COMPONENT_ERROR: { status: 422, title: 'The component threw an error' },
  CPU_LIMIT: { status: 422, title: 'The run used more CPU time than its limit' },
  WALL_LIMIT: { status: 422, title: 'The run took longer than its limit' },
  MEMORY_LIMIT: { status: 422, title: 'The component used more memory than its limit' },
  OUTPUT_LIMIT: { status: 422, title: 'The run produced more output than its limit' },
  RESOURCE_LIMIT: { status: 422, title: 'The run asked for more than one of its limits allows' },
  SANDBOX_CRASHED: { status: 422, title: 'The sandbox process of the run ended unexpectedly' },
  CHANGE_INTERRUPTED: { status: 422, title: 'The node ended while it ran hooks of the source' },
  RUN_ABANDONED: { status: 422, title: 'The sandbox process of the run ended again and again; the run was given up' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** One thing that is wrong with an input: where (`configured_props.url`, `limit`) and what. */
export interface FieldError {
  path: string;
  message: string;
  /** Of component code: the author's file, 1-based line and 0-based column. */
  file?: string;
  line?: number;
  column?: number;
  /**
   * The limit that is the reason. Of those of one HeadwaterError the first becomes its own, and
   * none is shown with a field.
   */
  limit?: ExceededLimit;
}

/** What is wrong with one value. */
export type Fault = Pick<FieldError, 'message' | 'limit'>;

interface ErrorDetails {
  fields?: readonly FieldError[];
  /** The limit that is the reason. Default: the first that a field goes over. */
  limit?: ExceededLimit;
  /** When the same request may succeed. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * Thrown for every expected failure that a caller is told about. Anything else that is thrown is a
 * defect and becomes INTERNAL.
 */
export class HeadwaterError extends Error {
  override readonly name = 'HeadwaterError';
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  readonly limit: ExceededLimit | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorDetails = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    const { fields = [] } = options;
    this.fields = fields.map(withoutLimit);
    this.limit = options.limit ?? firstLimit(fields);
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

function withoutLimit(error: FieldError): FieldError {
  const field = { ...error };
  delete field.limit;
  return field;
}

/** Where several things are wrong: the first limit among them. */
export function firstLimit(errors: readonly Fault[]): ExceededLimit | undefined {
  return errors.find(({ limit }) => limit !== undefined)?.limit;
}

/**
 * The same answer for "does not exist" and "belongs to another account", so that ids of others
 * cannot be probed.
 */
export function notFound(what: string, id: string): HeadwaterError {
  return new HeadwaterError('NOT_FOUND', `No ${what} ${id} in this account`);
}
