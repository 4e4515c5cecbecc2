import type { Sql } from './database.ts';

/** Active sources with invocations that nobody has leased for a while. */
export async function readStalledLanes(sql: Sql, afterMs: number): Promise<string[]> {
  const rows = await sql<{ source_id: string }[]>`
    select distinct i.source_id from invocations i
    join sources s on s.id = i.source_id and s.active and s.deleted_at is null
    where i.leased_by is null and i.created_at < now() - make_interval(secs => ${afterMs / 1000}::float8)`;
  return rows.map((row) => row.source_id);
}
