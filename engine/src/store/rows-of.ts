import type { Fragment } from 'postgres';
import type { Sql, Transaction } from './database.ts';
import { longTexts } from './long-texts.ts';

/** `long`: texts that may be long. They belong at the end, see long-texts.ts. */
export type Column =
  | readonly [type: 'text' | 'long', values: readonly (string | null)[]]
  | readonly [type: 'int4' | 'int8' | 'float8', values: readonly (number | null)[]];

const LONG_CHARS = 64 * 1024;
/** Each number of rows is a statement of its own to prepare. */
const MAX_VALUES_ROWS = 8;

/**
 * What rows are inserted `from`. As a rule an array for each column, so that the statement is the same however many rows there
 * are. Few rows with long texts are `values`: to plan with an array and to take it apart Postgres copies each text several times
 * (five megabytes took 30 to 40 ms of it, 15 to 25 as values).
 */
export function rowsOf(sql: Sql | Transaction, columns: readonly Column[]): Fragment {
  const count = columns[0]?.[1].length ?? 0;
  if (count > MAX_VALUES_ROWS || !columns.some(isLong)) {
    return sql`unnest(${listed(
      sql,
      columns.map((column) => arrayOf(sql, column)),
    )})`;
  }
  const rows = Array.from({ length: count }, (_, row) => {
    const cells = columns.map(([type, values]) => cellOf(sql, type, values[row] ?? null));
    return sql`(${listed(sql, cells)})`;
  });
  return sql`(values ${listed(sql, rows)})`;
}

function isLong([type, values]: Column): boolean {
  return type === 'long' && values.some((text) => text !== null && text.length > LONG_CHARS);
}

function arrayOf(sql: Sql | Transaction, [type, values]: Column): Fragment {
  switch (type) {
    case 'long':
      return longTexts(sql, values);
    case 'text':
      return sql`${values as (string | null)[]}::text[]`;
    case 'int4':
      return sql`${values as (number | null)[]}::int4[]`;
    case 'int8':
      return sql`${values as (number | null)[]}::int8[]`;
    case 'float8':
      return sql`${values as (number | null)[]}::float8[]`;
  }
}

function cellOf(sql: Sql | Transaction, type: Column[0], value: string | number | null): Fragment {
  switch (type) {
    case 'long':
    case 'text':
      return sql`${value}::text`;
    case 'int4':
      return sql`${value}::int4`;
    case 'int8':
      return sql`${value}::int8`;
    case 'float8':
      return sql`${value}::float8`;
  }
}

function listed(sql: Sql | Transaction, parts: readonly Fragment[]): Fragment {
  return parts.reduce((before, part) => sql`${before}, ${part}`);
}
