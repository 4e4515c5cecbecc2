import { type ExceededLimit, LIMITS } from '@headwater/shared';

/** Why a name leads nowhere: it has no address, none could be asked for, or one is not allowed. */
export type NameFault = 'unknown' | 'not-looked-up' | 'not-allowed';

/**
 * Thrown when an address or port may not be reached from here. The message names only what the
 * tenant gave.
 */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  /**
   * undici passes errors of a connector on as they are, except for its own two codes; this one
   * reaches the caller.
   */
  readonly code = 'EGRESS_REFUSED';
  /** Code for the guest: a refused host looks like one that does not exist. */
  readonly nodeCode: 'ECONNREFUSED' | 'ENOTFOUND';
  /** The limit that caused the refusal, if one did. */
  readonly limit: ExceededLimit | undefined;
  /** The address of a name, which the message does not tell: see describeRefusal. */
  readonly nameFault: NameFault | undefined;

  constructor(
    message: string,
    limit?: ExceededLimit,
    { nodeCode = 'ECONNREFUSED', nameFault }: Partial<Pick<EgressRefused, 'nodeCode' | 'nameFault'>> = {},
  ) {
    super(message);
    this.limit = limit;
    this.nodeCode = nodeCode;
    this.nameFault = nameFault;
  }
}

export function isEgressRefused(error: unknown): error is EgressRefused {
  return error instanceof EgressRefused;
}

/**
 * Thrown when the operator's proxy made no connection. The message is for tenants, so it contains
 * neither the proxy's address nor our credentials.
 */
export class EgressProxyFailed extends Error {
  override readonly name = 'EgressProxyFailed';
  readonly code = 'EGRESS_PROXY_FAILED';

  constructor(what: string) {
    super(`The proxy of this server ${what}`);
  }
}

/**
 * An answer of which too much is no body; `used`: bytes, as LIMITS.maxFetchFramingBytes counts
 * them.
 */
export class TooMuchFraming extends Error {
  override readonly name = 'TooMuchFraming';
  readonly code = 'EGRESS_FRAMING';
  readonly limit: ExceededLimit;

  constructor(used: number) {
    super('The answer has too many bytes that are not its body');
    this.limit = { name: 'maxFetchFramingBytes', value: LIMITS.maxFetchFramingBytes, used };
  }
}

/** The run that made a request went over a limit while the answer came. */
export class OverRunLimit extends Error {
  override readonly name = 'OverRunLimit';
  readonly limit: ExceededLimit;

  constructor(limit: ExceededLimit) {
    super(`The run went over ${limit.name}`);
    this.limit = limit;
  }
}

/** undici has its own errors for these limits; they do not contain the amount. */
const LIMITS_OF_CODES: Readonly<Record<string, ExceededLimit>> = {
  UND_ERR_HEADERS_OVERFLOW: leastOver('maxFetchResponseHeaderBytes'),
  UND_ERR_CONNECT_TIMEOUT: leastOver('connectTimeoutMs'),
};

function leastOver(name: 'maxFetchResponseHeaderBytes' | 'connectTimeoutMs'): ExceededLimit {
  return { name, value: LIMITS[name], used: LIMITS[name] + 1 };
}

/** The limit that made an exchange fail; undefined for other failures. */
export function limitOf(error: unknown): ExceededLimit | undefined {
  const hasLimit = error instanceof EgressRefused || error instanceof TooMuchFraming || error instanceof OverRunLimit;
  if (hasLimit) return error.limit;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? LIMITS_OF_CODES[code] : undefined;
}
