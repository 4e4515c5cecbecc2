import { CliError } from '../cli-error.ts';
import { safeLine } from '../terminal/safe-text.ts';

const PLAIN = 'it does not speak TLS';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no way to that host',
  ENETUNREACH: 'no way to that network',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_SOCKET: 'the connection was closed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is from an authority that is not trusted here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is that of another host',
  ERR_SSL_WRONG_VERSION_NUMBER: PLAIN,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PLAIN,
  EPROTO: PLAIN,
};

/** Describes an error of `fetch`. `proxy`: the variable that sets a proxy. */
export function unreachableError(url: string, thrown: unknown, proxy?: string): CliError {
  const error = thrown as Error & { cause?: { code?: string; message?: string } };
  const code = error.name === 'TimeoutError' ? 'ETIMEDOUT' : error.cause?.code;
  const reason = REASONS[code ?? ''] ?? error.cause?.message ?? error.message;
  return new CliError('unreachable', `${url} cannot be reached: ${safeLine(reason.trim())}`, {
    hint:
      proxy === undefined ? hintFor(url, reason, code) : `${proxy} is set: NO_PROXY names hosts to reach without it`,
    cause: thrown,
  });
}

function hintFor(url: string, reason: string, code = ''): string {
  if (reason === PLAIN) return `Is it ${url.replace('https:', 'http:')}? Name it with --url`;
  if (/CERT|VERIFY/.test(code)) return 'NODE_EXTRA_CA_CERTS=<file> names authorities to trust';
  return 'Start a server with: hw server start   or name another with --url';
}
