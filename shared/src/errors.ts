import type { ExceededLimit } from './exceeded-limit.ts';

/**
 * The registry of every error a user can see: code → HTTP status, title and what to do. Codes are
 * stable; messages are not. docs/errors.md is made of it. The API renders errors as RFC 9457
 * problem documents with a top-level `error` string beside.
 */
export const ERRORS = {
  INVALID_REQUEST: {
    status: 400,
    title: 'The request is not valid',
    advice: 'Correct the parameters that `errors` names.',
  },
  INVALID_COMPONENT: {
    status: 400,
    title: 'The component code cannot be used',
    advice: 'Correct the code at the lines that `errors` names, and save it again.',
  },
  NO_RESPONSE: {
    status: 400,
    title: 'The run ended without the answer that was due',
    advice: 'Let the component call `respond` in each run, or leave `customResponse` out.',
  },
  INVALID_PROPS: {
    status: 400,
    title: 'The configured props are not valid',
    advice: 'Give values that fit the props that `errors` names.',
  },
  UNAUTHORIZED: {
    status: 401,
    title: 'No valid API key was given',
    advice: 'Send a working key as `Authorization: Bearer <key>`.',
  },
  FORBIDDEN: {
    status: 403,
    title: 'This key may not do that',
    advice: 'Use a key with one of the scopes that `detail` names.',
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    title: 'The account is suspended',
    advice: 'Ask the operator. Nothing that was accepted is lost, and reads go on.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'No such resource',
    advice: 'Check the id, and that the key is one of the account that owns it.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This resource does not have that method',
    advice: 'Use one of the methods in the header `allow`.',
  },
  CONFLICT: {
    status: 409,
    title: 'The resource is not in a state that allows this',
    advice:
      'Read the resource and follow `detail`. With `limit`: delete something, or ask the operator for a higher limit.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'The resource was changed meanwhile',
    advice: 'Read the resource again, apply your change to it, and send its new `etag`.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The request body is too large',
    advice: 'Send a smaller body; `limit` has the largest size.',
  },
  UNSUPPORTED_ENCODING: {
    status: 415,
    title: 'The content encoding of the request body is not supported',
    advice: 'Send the body plain, or with gzip, deflate, br or zstd.',
  },
  HOOK_FAILED: {
    status: 422,
    title: 'A lifecycle hook of the component failed',
    advice:
      'Read the reason in `errors` and correct the hook. `errors` also says if the source is stopped; else nothing was changed.',
  },
  AUTH_FAILED: {
    status: 422,
    title: 'A connected account cannot be used',
    advice: 'Connect the account again.',
  },
  KEY_REUSED: {
    status: 422,
    title: 'The idempotency key belongs to another request',
    advice: 'Use a new `idempotency-key` for each new request.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait for `retry-after` seconds, then send it again.',
  },
  INTERNAL: {
    status: 500,
    title: 'Something went wrong on our side',
    advice: 'Send it again. If the error stays, give `request_id` to the operator, whose log has the reason.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'The service is not ready',
    advice: 'Wait for `retry-after` seconds, then send it again.',
  },
  /** 503, not 403: a sender that gets it keeps the request and sends it again. */
  ENDPOINT_SUSPENDED: {
    status: 503,
    title: 'The account of this endpoint is suspended',
    advice: 'Send it again later: the account may be resumed.',
  },
  DATABASE_AWAY: {
    status: 503,
    title: 'The database is away, or accepts no writes now',
    advice: 'Wait for `retry-after` seconds, then send it again. The operator looks at `/readyz`.',
  },
  /** Also ends a run, unless the run only computes a form. */
  CONFIGURATION_ERROR: {
    status: 400,
    title: 'The component does not accept its configuration',
    advice: 'Change the configured values that `detail` names.',
  },
  // Errors that end a run. They are recorded with the run, and never become an API status.
  COMPONENT_ERROR: {
    status: 422,
    title: 'The component threw an error',
    advice: 'Read `stack`, and correct the component.',
  },
  CPU_LIMIT: {
    status: 422,
    title: 'The run used more CPU time than its limit',
    advice: 'Do less in a run, or ask the operator for a higher `runCpuMs`.',
  },
  WALL_LIMIT: {
    status: 422,
    title: 'The run took longer than its limit',
    advice: 'Do less in a run, set timeouts on requests, or ask for more time.',
  },
  MEMORY_LIMIT: {
    status: 422,
    title: 'The component used more memory than its limit',
    advice: 'Hold less at once, or ask the operator for a higher `memoryMb`.',
  },
  OUTPUT_LIMIT: {
    status: 422,
    title: 'The run produced more output than its limit',
    advice: 'Log, export and emit less in a run.',
  },
  RESOURCE_LIMIT: {
    status: 422,
    title: 'The run asked for more than one of its limits allows',
    advice: 'Use less of it in a run; `limit` names the limit.',
  },
  SANDBOX_CRASHED: {
    status: 422,
    title: 'The sandbox process of the run ended unexpectedly',
    advice: 'Run it again. If the error stays, the component ends its process.',
  },
  CHANGE_INTERRUPTED: {
    status: 422,
    title: 'The node ended while it ran hooks of the source',
    advice: 'Make the change again.',
  },
  RUN_ABANDONED: {
    status: 422,
    title: 'The sandbox process of the run ended again and again, so the run was abandoned',
    advice: 'Correct the component, then retry the run.',
  },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** One thing that is wrong with an input: where (`configured_props.url`, `limit`) and what. */
export interface FieldError {
  path: string;
  message: string;
  /** Only for component code: the author's file, 1-based line and 0-based column. */
  file?: string;
  line?: number;
  column?: number;
  /**
   * The limit that is the reason. Of those of one HeadwaterError the first becomes its own, and
   * none is shown with a field.
   */
  limit?: ExceededLimit;
}

/** Error of one value. */
export type Fault = Pick<FieldError, 'message' | 'limit'>;

interface ErrorDetails {
  fields?: readonly FieldError[];
  /** The limit that is the reason. Default: the first that a field goes over. */
  limit?: ExceededLimit;
  /** When the same request may succeed. */
  retryAfterSeconds?: number;
  /** Something was changed nonetheless. */
  leftBehind?: true;
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
  /** Something was changed nonetheless: the audit log keeps its entry. */
  leftBehind: boolean;

  constructor(code: ErrorCode, message: string, options: ErrorDetails = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    const { fields = [] } = options;
    this.fields = fields.map(withoutLimit);
    this.limit = options.limit ?? firstLimit(fields);
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.leftBehind = options.leftBehind ?? false;
  }
}

function withoutLimit(error: FieldError): FieldError {
  const field = { ...error };
  delete field.limit;
  return field;
}

/** First limit among several errors. */
export function firstLimit(errors: readonly Fault[]): ExceededLimit | undefined {
  return errors.find(({ limit }) => limit !== undefined)?.limit;
}

/**
 * The same answer for "does not exist" and "belongs to another account", so that ids of others
 * cannot be probed.
 */
export function notFound(what: string, id: string): HeadwaterError {
  const message = what === 'account' ? `There is no account ${id}` : `No ${what} ${id} in this account`;
  return new HeadwaterError('NOT_FOUND', message);
}
