import type { Sql } from '../db/database.ts';

/** A value of a source's `$.service.db` as JSON text. */
export async function readDbValue(sql: Sql, sourceId: string, key: string): Promise<string | undefined> {
  const rows = await sql<{ value: string }[]>`
    select value from component_db where source_id = ${sourceId} and key = ${key}`;
  return rows[0]?.value;
}
