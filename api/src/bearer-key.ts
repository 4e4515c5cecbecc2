const BEARER = /^Bearer +(\S+) *$/i;

/** The key of `Authorization: Bearer <key>`; undefined where there is none. */
export function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
