import type { ExceededLimit } from '@headwater/shared';
import { describeLimit } from '../bridge/exceeded-limit.ts';
import { applyFunction } from './intrinsics.ts';

const MAKE = Symbol('make');

const { get, set } = WeakMap.prototype;
/** Limits behind errors that are not a LimitError. */
const reasons = new WeakMap<object, ExceededLimit>();

let readLimit: (error: object) => ExceededLimit | undefined;

/**
 * Error at a limit of the account: `limit` has the name, the value and the use. Component code
 * cannot construct one, so it is trusted when it ends a run.
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

/**
 * As `limitError`, with an error type that a standard defines. `fetch` throws a TypeError for any
 * headers that it refuses, and code that catches a TypeError must catch this error too.
 */
export function standardLimitError(make: (message: string) => Error, limit: ExceededLimit): Error {
  return reasonedBy(limit, make(describeLimit(limit)));
}

/** An error of any kind that a limit is the reason of. */
export function reasonedBy(limit: ExceededLimit, error: Error & { limit?: ExceededLimit }): Error {
  error.limit = { ...limit };
  applyFunction(set, reasons, [error, { ...limit }]);
  return error;
}

/** The limit of an error that one of these made; of anything else undefined. */
export function limitOfThrown(thrown: unknown): ExceededLimit | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  return readLimit(thrown) ?? (applyFunction(get, reasons, [thrown]) as ExceededLimit | undefined);
}
