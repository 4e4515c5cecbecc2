/**
 * Postgres text cannot hold NUL: one in a tenant's text would fail the statement. It becomes
 * U+FFFD, which is shown.
 */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
