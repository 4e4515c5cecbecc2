import type { ExceededLimit, KeyScope, Role } from '@headwater/shared';

/**
 * The caller, resolved from the API key or the session of a member. It is the first argument of
 * every method of the contract.
 */
export interface Principal {
  accountId: string;
  userId: string;
  /** The scopes of its key. Absent: everything. */
  scopes?: readonly KeyScope[];
  /** The id of its key. Absent where there is none. */
  keyId?: string;
  keyName?: string;
  /** The one source, workflow or webhook that its key reaches. Absent: all. */
  resource?: string;
  /** Set for the session of a member. Absent: an API key. */
  member?: { role: Role; email: string; personId: string; sessionId: string };
}

/**
 * A slice of a list, newest first unless said otherwise. Cursors are opaque; `total` counts the
 * whole list.
 */
export interface Page<T> {
  items: T[];
  total: number;
  startCursor?: string;
  endCursor?: string;
  /**
   * Epoch milliseconds: the page has fewer than were asked for because it has looked through as
   * much as one request may, back to this time. `endCursor` leads on from there.
   */
  scannedUntilMs?: number;
}

/** The request rate limit (`maxRequestsPerSecond`) that a request was counted by. */
export interface RateLimitState {
  perSecond: number;
  /** So many more may come at once. */
  remaining: number;
  /** Until the whole burst may come again, if nothing comes before. */
  fullInSeconds: number;
}

/**
 * The revisions of a resource that a change is made for: where it has another by now, the change
 * throws PRECONDITION_FAILED and nothing is written. Undefined: for whatever it is.
 */
export type ExpectedRevisions = readonly number[] | undefined;

/**
 * The state that a change is made for, of a resource that is told by the tag of its content: there
 * is none, there is one, or it has one of these tags. Else the change throws PRECONDITION_FAILED
 * and nothing is written.
 */
export type Condition = 'absent' | 'present' | readonly string[];

export interface PageRequest {
  limit: number;
  after?: string;
  before?: string;
}

/** A page of resources that have a name. */
export interface NamedPageRequest extends PageRequest {
  /** Only those that have it in their name or id, in either case. */
  query?: string;
}

/** A page of sources. */
export interface SourcePageRequest extends NamedPageRequest {
  /** Only those that this user has made. */
  userId?: string;
}

/** One attempt of a delivery or a send. `at`: ISO 8601. */
export interface AttemptRecord {
  at: string;
  status_code?: number;
  error?: string;
  /** The limit that is the reason of the error. */
  limit?: ExceededLimit;
  duration_ms: number;
  response?: string;
}

/**
 * Handling of a CORS preflight (`OPTIONS` with `access-control-request-method`) to an endpoint.
 * `allow`: the node allows every page. `run`: the code runs as for any other request.
 */
export type Preflight = 'allow' | 'run';

/**
 * Fate of a request to an endpoint in a crash of the node. `stored`: it is kept, since it is stored
 * before its run. `none`: it is lost, and its client sees that; what its run has committed stays.
 */
export type Durability = 'stored' | 'none';
