import type { ExceededLimit } from '@headwater/shared';

/** An error of a package. The message continues `Cannot resolve "name": `. */
export class PackageError extends Error {
  override readonly name: string = 'PackageError';
}

/**
 * Thrown where packages cannot be had at the moment, for a reason that is neither theirs nor the
 * author's: the registry or the disk of this node.
 */
export class PackagesUnavailableError extends Error {
  override readonly name: string = 'PackagesUnavailableError';
}

/**
 * Thrown where a build as a whole goes over a limit: no import of it is the reason, and all of it
 * is given up.
 */
export class BuildLimitError extends Error {
  override readonly name: string = 'BuildLimitError';
  readonly limit: ExceededLimit;

  constructor(message: string, limit: ExceededLimit) {
    super(message);
    this.limit = limit;
  }
}
