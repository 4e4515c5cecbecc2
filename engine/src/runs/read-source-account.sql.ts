import type { Sql } from '../db/database.ts';

/**
 * Owner of a source or workflow; undefined if it cannot run. `inTurn`: its settings control when
 * its executions start.
 */
export async function readSourceAccount(
  sql: Sql,
  sourceId: string,
): Promise<{ accountId: string; inTurn: boolean } | undefined> {
  const [row] = await sql<{ accountId: string; inTurn: boolean }[]>`
    select account_id as "accountId", in_turn as "inTurn" from emitters
    where id = ${sourceId} and active and deleted_at is null`;
  return row;
}
