/** The server's answer to a request that it refuses (RFC 9457). */
export interface Problem {
  /** Stable; compare this. */
  type: string;
  title: string;
  status: number;
  detail: string;
  error: string;
  /** Everything that is wrong with the input, at once. `line` counts from 1, `column` from 0. */
  errors?: { path: string; message: string; file?: string; line?: number; column?: number }[];
  /** The limit that is the reason. */
  limit?: { name: string; value: number; used: number };
  retry_after_seconds?: number;
  request_id: string;
}

/** The server refused. */
export class HeadwaterProblem extends Error {
  override readonly name = 'HeadwaterProblem';
  readonly status: number;
  /** `NOT_FOUND`; `HTTP_502` where something else than the server answered. */
  readonly code: string;
  readonly problem: Partial<Problem>;

  constructor(status: number, body: unknown) {
    const problem = (typeof body === 'object' && body !== null ? body : {}) as Partial<Problem>;
    super(problem.detail ?? problem.title ?? `The server answered ${status}`);
    this.status = status;
    this.problem = problem;
    const [, name] = /^urn:headwater:error:([a-z-]+)$/.exec(problem.type ?? '') ?? [];
    this.code = name === undefined ? `HTTP_${status}` : name.replaceAll('-', '_').toUpperCase();
  }
}
