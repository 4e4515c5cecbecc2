import { hash } from 'node:crypto';

const MAX_KEY_CHARS = 200;

/**
 * The key that orders the deliveries of a webhook: the JSON of the value at the path; '' if there
 * is none.
 */
export function orderKeyOf(path: string | null, data: string): string {
  if (path === null) return '';
  let value: unknown = JSON.parse(data);
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return '';
    value = (value as Record<string, unknown>)[name];
  }
  const key = JSON.stringify(value);
  return key.length <= MAX_KEY_CHARS ? key : hash('sha256', key, 'base64url');
}
