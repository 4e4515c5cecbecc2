import type { Sql } from './database.ts';

/**
 * Counts that the sandbox process of an invocation ended while the invocation was alone in it. Answers how often that has
 * happened, on any node; undefined where the node has lost the lease.
 */
export async function countCrash(
  sql: Sql,
  { id, leasedBy }: { id: string; leasedBy: string },
): Promise<number | undefined> {
  const [row] = await sql<{ crashes: number }[]>`
    update invocations set crashes = crashes + 1 where id = ${id} and leased_by = ${leasedBy} returning crashes`;
  return row?.crashes;
}
