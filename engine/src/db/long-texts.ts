import type { Fragment } from 'postgres';
import type { Sql, Transaction } from './database.ts';
import { FragmentParts } from './fragment-parts.ts';

/** JSON has no control characters beside white space: neither of these can be in it. */
const SEPARATOR = '\u0001';
const NULL = '\u0002';

/**
 * A `text[]` of texts that may be long, JSON as a rule: one text, which Postgres takes apart. In an
 * array each would be escaped and read character by character: half a megabyte held the node's
 * thread for some 20 ms, now 2. They belong at the end of a statement: for each parameter behind
 * them the client may copy all of it to a larger buffer.
 */
export function longTexts(sql: Sql | Transaction, texts: readonly (string | null)[]): Fragment {
  const parts = new FragmentParts();
  addLongTexts(parts, texts);
  return parts.fragment(sql);
}

/** As above, for a fragment of a larger statement. */
export function addLongTexts(parts: FragmentParts, texts: readonly (string | null)[]): void {
  const joined = texts.map((text) => text ?? NULL).join(SEPARATOR);
  // string_to_array makes an empty array of an empty text.
  const isPlain = joined !== '' && texts.every((text) => text === null || isFree(text));
  if (!isPlain) parts.value(texts).text('::text[]');
  else {
    parts.text('string_to_array(').value(joined).text('::text, ').value(SEPARATOR).text('::text, ');
    parts.value(NULL).text('::text)');
  }
}

function isFree(text: string): boolean {
  return !text.includes(SEPARATOR) && !text.includes(NULL);
}
