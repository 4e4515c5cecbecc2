import { LIMITS } from '@headwater/shared';
import { EgressProxyFailed, isEgressRefused, OverRunLimit } from './refusal.ts';

/** Codes of certificates that TLS refuses, as Node names them. */
const CERTIFICATE_CODE = /^(CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before the response was complete',
  EPIPE: 'closed the connection before the request was complete',
  UND_ERR_SOCKET: 'closed the connection before the response was complete',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept a connection in time',
  ETIMEDOUT: 'did not accept a connection in time',
  EHOSTUNREACH: 'cannot be reached from here',
  ENETUNREACH: 'cannot be reached from here',
  UND_ERR_HEADERS_OVERFLOW: `answered with headers that are too large (over ${LIMITS.maxFetchResponseHeaderBytes} bytes)`,
  EGRESS_FRAMING: `sent more than ${LIMITS.maxFetchFramingBytes} bytes that are not its answer's body`,
  EGRESS_UPGRADE: 'answered 101 Switching Protocols to a request that did not ask for it',
  EGRESS_INTERIM_RESPONSES: 'sent one interim response after another',
  // undici's own word for a status below 100.
  ERR_ASSERTION: 'answered with something that is not HTTP',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'answered with a body of another length than announced',
};

/**
 * One sentence on why a request got no response, for the tenant that made it: the requested host
 * and the failure. It never contains a resolved address, nor a path or stack of this machine, which
 * messages of Node and undici hold.
 */
export function describeFailure(host: string, error: unknown): string {
  if (isEgressRefused(error) || error instanceof EgressProxyFailed) return error.message;
  if (error instanceof OverRunLimit) return `The request to ${host} was ended: its run went over ${error.limit.name}`;
  // Without a code where the parser of headers gave none.
  if ((error as { name?: unknown } | null)?.name === 'HTTPParserError')
    return `${host} answered with something that is not HTTP${parserReason(error)}`;
  const code = readCode(error);
  if (code === undefined) return `The request to ${host} failed`;
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return `${host} ${sentence}`;
  if (CERTIFICATE_CODE.test(code)) return `The TLS certificate of ${host} is not accepted (${code})`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return `No TLS connection to ${host} could be made (${code})`;
  return `The request to ${host} failed (${code})`;
}

/** The parser's own words: it has a fixed set of them. */
const PARSER_REASON = /\(([\w ,/'-]{1,100})\)$/;

/** In plainer words than the parser's, where those do not say what the host has to change. */
const REASONS: Readonly<Record<string, string>> = {
  'Invalid header token': 'a header line that begins with no valid name and colon',
  'Invalid header value char': 'a header value with a character that is not allowed',
};

function parserReason(error: unknown): string {
  const reason = PARSER_REASON.exec(String((error as { message?: unknown }).message))?.[1];
  return reason === undefined ? '' : `: ${REASONS[reason] ?? reason}`;
}

/** The `code` that a guest sees, named as in Node and undici. */
export function nodeCodeOf(error: unknown): string | undefined {
  if (isEgressRefused(error)) return error.nodeCode;
  if (error instanceof EgressProxyFailed) return 'ECONNREFUSED';
  const code = readCode(error);
  if (code === 'ERR_ASSERTION' || (error as { name?: unknown } | null)?.name === 'HTTPParserError')
    return code?.startsWith('HPE_') === true ? code : 'HPE_INVALID_CONSTANT';
  return code?.startsWith('EGRESS_') === true ? 'UND_ERR_SOCKET' : code;
}

// Connecting to several addresses of a name fails with an AggregateError; its first cause says what
// the host does.
function readCode(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return readCode(error.errors[0]);
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
