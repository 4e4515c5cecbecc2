/** Thrown when an address or port may not be reached from here. The message names only what the tenant gave. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  /** undici passes errors of a connector on as they are, except for its own two codes; this one reaches the caller. */
  readonly code = 'EGRESS_REFUSED';
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
