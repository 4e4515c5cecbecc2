/** User and password, hosts with their ports, the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s;

/**
 * A URL for each host of a database's, which libpq divides by commas. One that cannot be parsed
 * stays as it is.
 */
export function hostUrlsOf(databaseUrl: string): string[] {
  const [, before, hosts = '', after = ''] = PARTS.exec(databaseUrl) ?? [];
  if (before === undefined) return [databaseUrl];
  return hosts.split(',').map((host) => withoutTarget(`${before}${host}${after}`));
}

/** Headwater finds the writable server of several by itself. */
function withoutTarget(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.searchParams.delete('target_session_attrs');
  return url.href;
}
