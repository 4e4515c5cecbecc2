import type { components } from './schema.d.ts';

/** The server's answer to a request that it refuses (RFC 9457). */
export type Problem = components['schemas']['Problem'];

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
