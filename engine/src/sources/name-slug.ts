const MAX_SLUG_CHARS = 100;

/**
 * `HTTP Requests (v2)` → `http-requests-v2`; a name without letters or digits becomes `fallback`.
 */
export function nameSlugOf(name: string, fallback = 'source'): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG_CHARS);
  return slug === '' ? fallback : slug;
}
