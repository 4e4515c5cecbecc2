import type { Fragment } from 'postgres';
import type { Sql, Transaction } from './database.ts';
import { FragmentParts } from './fragment-parts.ts';
import { addLongTexts } from './long-texts.ts';

/** `long`: texts that may be long. They belong at the end, see long-texts.ts. */
export type Column =
  | readonly [type: 'text' | 'long', values: readonly (string | null)[]]
  | readonly [type: 'int4' | 'int8' | 'float8', values: readonly (number | null)[]];

const LONG_CHARS = 64 * 1024;
/** Each number of rows is a statement of its own to prepare. */
const MAX_VALUES_ROWS = 8;

/**
 * The `from` item of an insert. Usually one array per column, so that the statement is the same for
 * any number of rows. A few rows with long texts become `values`, because Postgres copies texts of
 * an array several times. 5 MB take 30 to 40 ms as an array, and 15 to 25 ms as `values`.
 */
export function rowsOf(sql: Sql | Transaction, columns: readonly Column[]): Fragment {
  const count = columns[0]?.[1].length ?? 0;
  const parts = new FragmentParts();
  if (count > MAX_VALUES_ROWS || !columns.some(isLong)) {
    parts.text('unnest(').list(columns, (column) => addArray(parts, column));
  } else {
    parts.text('(values ').list([...Array(count).keys()], (row) => addRow(parts, columns, row));
  }
  return parts.text(')').fragment(sql);
}

function isLong([type, values]: Column): boolean {
  return type === 'long' && values.some((text) => text !== null && text.length > LONG_CHARS);
}

function addArray(parts: FragmentParts, [type, values]: Column): void {
  if (type === 'long') addLongTexts(parts, values);
  else parts.value(values).text(`::${type}[]`);
}

function addRow(parts: FragmentParts, columns: readonly Column[], row: number): void {
  parts.text('(');
  parts.list(columns, ([type, values]) =>
    parts.value(values[row] ?? null).text(`::${type === 'long' ? 'text' : type}`),
  );
  parts.text(')');
}
