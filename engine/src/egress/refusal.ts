import { type ExceededLimit, LIMITS } from '@headwater/shared';

/** Thrown when an address or port may not be reached from here. The message names only what the tenant gave. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  /** undici passes errors of a connector on as they are, except for its own two codes; this one reaches the caller. */
  readonly code = 'EGRESS_REFUSED';
  /** Where it is one that refuses. */
  readonly limit: ExceededLimit | undefined;

  constructor(message: string, limit?: ExceededLimit) {
    super(message);
    this.limit = limit;
  }
}

export function isEgressRefused(error: unknown): error is EgressRefused {
  return error instanceof EgressRefused;
}

/** Thrown when the operator's proxy made no connection. The message, for tenants, says neither where it is nor who we are there. */
export class EgressProxyFailed extends Error {
  override readonly name = 'EgressProxyFailed';
  readonly code = 'EGRESS_PROXY_FAILED';

  constructor(what: string) {
    super(`The proxy of this server ${what}`);
  }
}

/** An answer of which too much is no body; `used`: bytes, as LIMITS.maxFetchFramingBytes counts them. */
export class TooMuchFraming extends Error {
  override readonly name = 'TooMuchFraming';
  readonly code = 'EGRESS_FRAMING';
  readonly limit: ExceededLimit;

  constructor(used: number) {
    super('The answer has too many bytes that are not its body');
    this.limit = { name: 'maxFetchFramingBytes', value: LIMITS.maxFetchFramingBytes, used };
  }
}

/** The limit that an exchange failed by, where it was one. */
export function limitOf(error: unknown): ExceededLimit | undefined {
  return error instanceof EgressRefused || error instanceof TooMuchFraming ? error.limit : undefined;
}
