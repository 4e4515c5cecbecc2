import { CliError } from '../cli-error.ts';

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
};

/** What `fetch` throws, as a sentence. */
export function unreachableError(url: string, thrown: unknown): CliError {
  const error = thrown as Error & { cause?: { code?: string; message?: string } };
  const code = error.name === 'TimeoutError' ? 'ETIMEDOUT' : error.cause?.code;
  const reason = REASONS[code ?? ''] ?? error.cause?.message ?? error.message;
  const isCertificate = /CERT|VERIFY/.test(code ?? '');
  return new CliError('unreachable', `${url} cannot be reached: ${reason}`, {
    hint: isCertificate
      ? 'NODE_EXTRA_CA_CERTS=<file> names authorities to trust'
      : 'Start a server with: hw server start   or name another with --url',
    cause: thrown,
  });
}
