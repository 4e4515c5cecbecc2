import { addRunLanes } from './insert-invocations.ts';
import type { Sql } from './database.ts';

/**
 * Gives invocations back: another node, or a later moment, will run them. One that was `tried` has had an attempt, so that
 * one which can never be committed is given up some day.
 */
export async function releaseInvocations(
  sql: Sql,
  nodeId: string,
  ids: readonly string[],
  { tried }: { tried: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      update invocations set leased_by = null, attempts =
        -- of a workflow: see HeldInvocation.attempts
        case when left(source_id, 2) = 'p_' then greatest(attempts - ${tried ? 0 : 1}, 1) else attempts - ${tried ? 0 : 1} end
      where id = any(${[...ids]}::text[]) and leased_by = ${nodeId}
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}
