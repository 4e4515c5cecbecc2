/**
 * The URL of an endpoint: `<publicUrl>/e/<key>`, or `<scheme>://<key>.<domain>` where a domain is
 * set.
 */
export function endpointUrls(options: { publicUrl: string; endpointDomain?: string }): (key: string) => string {
  const { publicUrl, endpointDomain } = options;
  if (endpointDomain === undefined) return (key) => `${publicUrl}/e/${key}`;
  const { protocol } = new URL(publicUrl);
  return (key) => `${protocol}//${key}.${endpointDomain}`;
}
