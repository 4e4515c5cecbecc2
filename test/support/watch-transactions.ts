import type { Sql } from '../../engine/src/db/database.ts';

export interface WatchedTransactions {
  /** How many rows each has touched since, the most first. */
  rows(): Promise<number[]>;
  /** Begins anew. */
  forget(): Promise<void>;
}

/**
 * Counts for each transaction the rows of a table that it inserts, updates or deletes. Once for
 * each of these, of all tables of a database.
 */
export async function watchTransactions(
  sql: Sql,
  table: string,
  event: 'insert' | 'update' | 'delete',
): Promise<WatchedTransactions> {
  const seen = `${event}s_seen`;
  await sql.unsafe(`
    create table ${seen} (xid xid8, rows int8);
    create function note_${event}s() returns trigger language plpgsql as $$ begin
      insert into ${seen} select pg_current_xact_id(), count(*) from changed; return null;
    end $$;
    create trigger note_${event}s after ${event} on ${table}
      referencing ${event === 'delete' ? 'old' : 'new'} table as changed for each statement execute function note_${event}s();`);
  return {
    async rows() {
      const rows = await sql<{ sum: number }[]>`
        select sum(rows)::int8 as sum from ${sql(seen)} group by xid having sum(rows) > 0 order by sum desc`;
      return rows.map(({ sum }) => sum);
    },
    async forget() {
      await sql`truncate ${sql(seen)}`;
    },
  };
}
