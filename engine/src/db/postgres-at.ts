import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import postgres from 'postgres';

export interface DatabasePlace {
  /** Without its TLS parameters: clients read `sslmode` in different ways. */
  url: string;
  /** Absent: it says nothing of TLS. */
  ssl?: false | ConnectionOptions;
}

/**
 * The TLS settings of a database's URL, as libpq reads them. `require` encrypts and believes any
 * certificate, unless `sslrootcert` names the authority; `verify-ca` asks for one of a known
 * authority, `verify-full` for one of the host too. `prefer` and `allow` need a server that
 * encrypts.
 */
export function placeOfUrl(databaseUrl: string): DatabasePlace {
  const url = URL.parse(databaseUrl);
  const mode = url?.searchParams.get('sslmode') ?? (url?.searchParams.get('ssl') === 'true' ? 'require' : undefined);
  if (url === null || mode === undefined) return { url: databaseUrl };
  const authority = url.searchParams.get('sslrootcert');
  for (const name of ['sslmode', 'ssl', 'sslrootcert']) url.searchParams.delete(name);
  if (mode === 'disable') return { url: url.href, ssl: false };
  const ca = authority === null || authority === 'system' ? {} : { ca: readFileSync(authority, 'utf8') };
  return { url: url.href, ssl: { ...ca, ...identityOf(mode, authority !== null, url.hostname) } };
}

function identityOf(mode: string, hasAuthority: boolean, hostname: string): ConnectionOptions {
  if (mode === 'verify-full') {
    const host = hostname.replace(/^\[|\]$/g, '');
    // TLS knows no host of a connection that is open already.
    return { host, ...(isIP(host) === 0 ? { servername: host } : {}) };
  }
  return mode === 'verify-ca' || hasAuthority
    ? { checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false };
}

type Options<Types extends Record<string, postgres.PostgresType>> = NonNullable<Parameters<typeof postgres<Types>>[1]>;

/** The client of a database, which encrypts as its URL says. */
export function postgresAt<Types extends Record<string, postgres.PostgresType> = {}>(
  databaseUrl: string,
  options: Options<Types>,
): ReturnType<typeof postgres<Types>> {
  const { url, ssl } = placeOfUrl(databaseUrl);
  return postgres<Types>(url, { ...(ssl === undefined ? {} : { ssl }), ...options });
}
