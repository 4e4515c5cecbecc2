import type { Sql } from '../db/database.ts';
import type { Claim } from './release-invocations.sql.ts';

/**
 * Counts that the sandbox process of an invocation ended while the invocation was alone in it.
 * Answers how often that has happened, on any node; undefined where the node has lost the lease.
 */
export async function countCrash(
  sql: Sql,
  { id, claim, leasedBy }: Claim & { leasedBy: string },
): Promise<number | undefined> {
  const [row] = await sql<{ crashes: number }[]>`
    update invocations set crashes = crashes + 1
    where id = ${id} and leased_by = ${leasedBy} and claim = ${claim} returning crashes`;
  return row?.crashes;
}
