import type { Sql } from '../db/database.ts';

/**
 * Whose source or workflow it is; undefined where it cannot run. `inTurn`: its settings say when
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
