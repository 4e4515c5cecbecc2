import type { ReservedSql, Sql, TransactionSql } from 'postgres';
import { isConnectionLost } from './lost-connection.ts';

type Types = { bigint: number };
type Connection = ReservedSql<Types>;

/**
 * As the client's own `begin`, which takes a list of queries as well. That one rolls back on a connection that was lost, too: what is
 * written to one ends the process, in a callback of its own that nobody can catch (postgres.js 3.4.9, `nextWrite`).
 */
export function createBegin(sql: Sql<Types>): <T>(work: (tx: TransactionSql<Types>) => T | Promise<T>) => Promise<T> {
  return async (work) => {
    const connection = await sql.reserve();
    try {
      await connection`begin`;
      const worked = work(connection as unknown as TransactionSql<Types>);
      const result = await (Array.isArray(worked) ? (Promise.all(worked) as Promise<Awaited<typeof worked>>) : worked);
      await connection`commit`;
      connection.release();
      return result;
    } catch (error) {
      await rollBack(connection, error);
      throw error;
    }
  };
}

/** After an error within a transaction. A connection that was lost the pool has taken back by itself: released, it would be written to. */
export async function rollBack(connection: Connection, error: unknown): Promise<void> {
  if (isConnectionLost(error)) return;
  try {
    await connection`rollback`;
  } catch {
    // The error that matters is the first; and a connection that cannot roll back is of no use.
    return;
  }
  connection.release();
}
