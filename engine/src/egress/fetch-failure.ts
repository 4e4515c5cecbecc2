import type { FetchOutcome } from '@headwater/sandbox-runtime';
import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import { describeFailure, nodeCodeOf } from './describe-failure.ts';
import type { ExchangeOutcome } from './exchange.ts';
import { EgressProxyFailed, type EgressRefused, isEgressRefused, limitOf, OverRunLimit } from './refusal.ts';

/**
 * `plain`: the message without anything that was given or answered, for those whom a secret in it
 * would be told. Absent where the limit says all that there is, or nothing can be said.
 */
export type FetchFailure = Extract<FetchOutcome, { ok: false }> & { plain?: string };

type Failed = Exclude<ExchangeOutcome, { kind: 'response' }>;

const NOT_REACHED = 'The receiver has no address and port that are reached from here';

export function fetchFailure(message: string, limit?: ExceededLimit, plain?: string, code?: string): FetchFailure {
  return {
    ok: false,
    message,
    ...(code === undefined ? {} : { code }),
    ...(limit === undefined ? {} : { limit }),
    ...(plain === undefined ? {} : { plain }),
  };
}

/** Before any connection. */
export function failRefused({ message, nodeCode }: EgressRefused): FetchFailure {
  return fetchFailure(message, undefined, NOT_REACHED, nodeCode);
}

/** A body of more than the tenant's limit, `used` bytes at least. */
export function failTooLarge(host: string, limits: AccountLimits, used: number): FetchFailure {
  const value = limits.maxFetchResponseBytes;
  return fetchFailure(`The response of ${host} is larger than ${value} bytes`, {
    name: 'maxFetchResponseBytes',
    value,
    used,
  });
}

/** The request did not end in its time, of which `used` ms are gone. */
export function failTimeout(host: string, limits: AccountLimits, used: number): FetchFailure {
  const value = limits.fetchTimeoutMs;
  const limit: ExceededLimit = { name: 'fetchTimeoutMs', value, used: Math.max(value, Math.round(used)) };
  return fetchFailure(`The request to ${host} took longer than ${value} ms`, limit);
}

/**
 * Not one request's fault: what all requests of the tenant hold together, `used` bytes at least, is
 * more than a node has for one.
 */
export function failBudget(host: string, used: number): FetchFailure {
  const message = `The request to ${host} was ended: too many bytes of requests and responses are held at once`;
  const value = LIMITS.maxFetchBytesPerTenant;
  return fetchFailure(message, { name: 'maxFetchBytesPerTenant', value, used: Math.max(used, value + 1) });
}

/** Its run went over a limit by it. */
export function failOfRun(host: string, limit: ExceededLimit): FetchFailure {
  return fetchFailure(describeFailure(host, new OverRunLimit(limit)), limit);
}

/** It was redirected once more than it may be. */
export function failRedirects(used: number): FetchFailure {
  const value = LIMITS.maxFetchRedirects;
  return fetchFailure(`More than ${value} redirects`, { name: 'maxFetchRedirects', value, used });
}

/** It never got its turn. */
export function failTurn(host: string, limit: ExceededLimit): FetchFailure {
  const reason =
    limit.name === 'maxConnections'
      ? `the account may have ${limit.value} requests under way at the same time`
      : `the account may make ${limit.value} requests a second`;
  return fetchFailure(`The request to ${host} waited for its turn in vain: ${reason}`, limit);
}

export function failAborted(host: string): FetchFailure {
  return fetchFailure(`The request to ${host} was aborted`, undefined, undefined, 'UND_ERR_ABORTED');
}

/** `heldBytes`: by all requests of the tenant. */
export function failExchange(
  host: string,
  outcome: Failed,
  limits: AccountLimits,
  now: { tookMs: number; heldBytes: number },
): FetchFailure {
  switch (outcome.kind) {
    case 'timeout':
      return failTimeout(host, limits, now.tookMs);
    case 'too-large':
      return failTooLarge(host, limits, outcome.seenBytes);
    case 'over-budget':
      return failBudget(host, now.heldBytes);
    case 'aborted':
      return failAborted(host);
    case 'error':
      return failError(host, outcome.error);
  }
}

function failError(host: string, error: unknown): FetchFailure {
  return fetchFailure(describeFailure(host, error), limitOf(error), plainOf(error), nodeCodeOf(error));
}

/** A refusal names the host, and so do messages about the proxy. This text names neither. */
function plainOf(error: unknown): string {
  if (isEgressRefused(error)) return NOT_REACHED;
  if (error instanceof EgressProxyFailed) return 'The proxy of this server could not connect to the receiver';
  return describeFailure('The receiver', error);
}
