import type { Sql, Transaction } from '../../db/database.ts';
import { ARCHIVED } from './archived-tables.ts';

/** Columns of each archived table that are stored, without those that the database works out. */
export async function readColumns(tx: Sql | Transaction): Promise<Map<string, string[]>> {
  const rows = await tx<{ table: string; column: string }[]>`
    select c.relname::text as "table", a.attname::text as "column"
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by c.relname, a.attnum`;
  const columns = new Map<string, string[]>(ARCHIVED.map(({ table }) => [table, []]));
  for (const { table, column } of rows) columns.get(table)?.push(column);
  return columns;
}

/** Names of the migrations that the database has. */
export async function readMigrationNames(tx: Sql | Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`select name from headwater_migrations order by name`;
  return rows.map(({ name }) => name);
}

/** Quoted for SQL that takes no parameters. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
