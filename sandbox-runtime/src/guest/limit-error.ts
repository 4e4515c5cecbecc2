import type { ExceededLimit } from '@headwater/shared';
import { describeLimit } from '../protocol/exceeded-limit.ts';

const MAKE = Symbol('make');

let readLimit: (error: object) => ExceededLimit | undefined;

/**
 * What a component is thrown at a limit of its account: `limit` has the name, the value and what was used. Nobody else can
 * make one, so it is believed when it ends a run.
 */
class LimitError extends RangeError {
  override readonly name = 'LimitError';
  readonly limit: ExceededLimit;
  readonly #limit: ExceededLimit;
  code: string;

  constructor(token: unknown, limit: ExceededLimit, code: string) {
    if (token !== MAKE) throw new TypeError('Illegal constructor');
    super(describeLimit(limit));
    this.#limit = { ...limit };
    this.limit = { ...limit };
    this.code = code;
  }

  static {
    readLimit = (error) => (#limit in error ? error.#limit : undefined);
  }
}

/** `code` is for packages that look for one of Node, as `ENOSPC`. */
export function limitError(limit: ExceededLimit, code = 'LIMIT_EXCEEDED'): Error & { code: string } {
  return new LimitError(MAKE, limit, code);
}

/** The limit of an error that `limitError` made; of anything else undefined. */
export function limitOf(thrown: unknown): ExceededLimit | undefined {
  return typeof thrown === 'object' && thrown !== null ? readLimit(thrown) : undefined;
}
