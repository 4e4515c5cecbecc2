/** Postgres refuses both in text and in jsonb. */
export const UNSTORABLE = 'contains a NUL character or half of a surrogate pair, which cannot be stored';

export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}
