import type { ExceededLimit } from '@headwater/shared';

/** Thrown for what is wrong with a package, in words that follow `Cannot resolve "name": `. */
export class PackageError extends Error {
  override readonly name: string = 'PackageError';
}

/** Thrown where a build as a whole goes over a limit: no import of it is the reason, and all of it is given up. */
export class BuildLimitError extends Error {
  override readonly name: string = 'BuildLimitError';
  readonly limit: ExceededLimit;

  constructor(message: string, limit: ExceededLimit) {
    super(message);
    this.limit = limit;
  }
}
