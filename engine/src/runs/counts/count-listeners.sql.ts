import { isWorkflow } from '../../events/invocation.ts';
import type { Sql } from '../../db/database.ts';

/** Subscriptions to the emitter, by its id or its glob, also those of stopped listeners. */
export async function countListeners(sql: Sql, accountId: string, emitterId: string): Promise<number> {
  const glob = isWorkflow(emitterId) ? 'p_*' : 'dc_*';
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from subscriptions where account_id = ${accountId} and emitter_id in (${emitterId}, ${glob})`;
  return row?.count ?? 0;
}
