import type { ExceededLimit } from '@headwater/shared';
import { limitError, reasonedBy } from './limit-error.ts';

/** Why the node made no request, or got no answer. */
export interface NetworkFailure {
  message: string;
  /** As Node names it. */
  code?: string;
  limit?: ExceededLimit;
}

/** Codes of Node's fetch for limits. Another limit is reported as a LimitError. */
const CODES_OF_LIMITS: { readonly [Name in ExceededLimit['name']]?: string } = {
  connectTimeoutMs: 'UND_ERR_CONNECT_TIMEOUT',
  fetchTimeoutMs: 'UND_ERR_HEADERS_TIMEOUT',
  maxFetchResponseHeaderBytes: 'UND_ERR_HEADERS_OVERFLOW',
};

const UNDICI_NAMES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'SocketError',
  UND_ERR_ABORTED: 'RequestAbortedError',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'ResponseContentLengthMismatchError',
};

const ERRNOS: Readonly<Record<string, number>> = {
  ENOTFOUND: -3008,
  ECONNREFUSED: -111,
  ETIMEDOUT: -110,
  EHOSTUNREACH: -113,
  ENETUNREACH: -101,
  ECONNRESET: -104,
  EPIPE: -32,
};

/** Exactly as Node words it, since packages try again by that: what happened is in its cause. */
export function fetchFailed(cause: Error): TypeError {
  return new TypeError('fetch failed', { cause });
}

/** Error that `fetch` rejects with. */
export function errorOfFailure({ message, code, limit }: NetworkFailure, peer: Peer): Error {
  if (limit === undefined) return fetchFailed(causeOf(message, code, peer));
  const named = CODES_OF_LIMITS[limit.name];
  return named === undefined ? limitError(limit) : reasonedBy(limit, fetchFailed(limitError(limit, named)));
}

function causeOf(message: string, code: string | undefined, peer: Peer): Error {
  const cause = new Error(message);
  if (code === undefined) return cause;
  const name = UNDICI_NAMES[code];
  if (name !== undefined) Object.defineProperty(cause, 'name', { value: name, configurable: true, writable: true });
  return Object.assign(cause, systemFields(code), { code }, placeOf(code, peer));
}

export interface Peer {
  host: string;
  port: number;
}

/** Error of an `http` or `https` request. */
export function requestFailure({ message, code, limit }: NetworkFailure, peer: Peer): Error {
  if (limit !== undefined) {
    // Packages try again on this code.
    const isLate = limit.name === 'fetchTimeoutMs' || limit.name === 'connectTimeoutMs';
    return isLate ? limitError(limit, 'ETIMEDOUT') : limitError(limit);
  }
  // The node refused the request itself: "socket hang up" would hide why.
  if (code === undefined) return Object.assign(new Error(message), { code: 'EINVAL' });
  return systemError(code.startsWith('UND_ERR_') || code === 'EPIPE' ? 'ECONNRESET' : code, message, peer);
}

/**
 * An error of the operating system as Node throws it. `reason`: its cause, also shown in the
 * message if no host was asked.
 */
export function systemError(code: string, reason: string, peer: Peer): Error {
  const error = new Error(worded(code, reason, peer.host, peer.port), { cause: new Error(reason) });
  return Object.assign(error, { code, ...systemFields(code), ...placeOf(code, peer) });
}

/** The address that was tried, as the operating system's errors say it. */
function placeOf(code: string, { host, port }: Peer): { hostname?: string; address?: string; port?: number } {
  const { syscall } = systemFields(code);
  if (syscall === undefined || syscall === 'write') return {};
  return syscall === 'getaddrinfo' ? { hostname: host } : { address: host, port };
}

function worded(code: string, reason: string, host: string, port: number): string {
  switch (code) {
    case 'ENOTFOUND':
      return `getaddrinfo ENOTFOUND ${host}`;
    case 'ECONNRESET':
      return 'socket hang up';
    case 'ECONNREFUSED': {
      const told = `connect ECONNREFUSED ${host}:${port}`;
      return reason.endsWith('refused the connection') ? told : `${told}: ${reason}`;
    }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `connect ${code} ${host}:${port}`;
    default:
      return reason;
  }
}

function systemFields(code: string): { errno?: number; syscall?: string } {
  const errno = ERRNOS[code];
  if (errno === undefined || code === 'ECONNRESET') return {};
  return { errno, syscall: code === 'ENOTFOUND' ? 'getaddrinfo' : code === 'EPIPE' ? 'write' : 'connect' };
}
