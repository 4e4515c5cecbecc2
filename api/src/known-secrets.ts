import { hostUrlsOf, type SecretValue } from '@headwater/engine';
import type { Config } from './config.ts';

/** The secrets that this process was started with: none of its output may hold one. */
export function knownSecrets(config: Config): SecretValue[] {
  const {
    apiKey,
    adminKey,
    encryptionKey,
    oldEncryptionKeys,
    databaseUrl,
    egressProxy,
    mail,
    oidc,
    networkEnvironment,
  } = config;
  const { traces, metrics } = config.telemetry ?? {};
  const ofTelemetry = [traces, metrics].flatMap((signal) => Object.values(signal?.headers ?? {}));
  return [
    { name: 'HEADWATER_API_KEY', value: apiKey },
    { name: 'HEADWATER_ADMIN_KEY', value: adminKey },
    { name: 'HEADWATER_ENCRYPTION_KEY', value: encryptionKey },
    { name: 'HEADWATER_ENCRYPTION_KEYS_OLD', value: oldEncryptionKeys },
    { name: 'DATABASE_URL', value: databaseUrl === undefined ? [] : hostUrlsOf(databaseUrl).flatMap(passwordsOf) },
    { name: 'HEADWATER_EGRESS_PROXY', value: passwordsOf(egressProxy) },
    { name: 'HEADWATER_SMTP_URL', value: passwordsOf(mail?.smtpUrl) },
    { name: 'OTEL_EXPORTER_OTLP_HEADERS', value: ofTelemetry },
    { name: 'HEADWATER_OIDC_CLIENT_SECRET', value: oidc?.clientSecret },
    { name: 'proxy', value: Object.values(networkEnvironment ?? {}).flatMap(passwordsOf) },
  ];
}

/**
 * As it is written in the URL, and as it is meant. A password that stands elsewhere in the URL too
 * (`postgres:postgres@`) is no secret, and looking for it would spoil every line that names the
 * thing.
 */
function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password, username, host, pathname } = new URL(url);
  if ([username, host, pathname.slice(1)].includes(password)) return [];
  return [...new Set([password, decoded(password)])];
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    // A stray % in it: it is meant as it is written.
    return password;
  }
}
