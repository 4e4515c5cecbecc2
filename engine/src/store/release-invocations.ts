import { ID_PREFIXES } from '@headwater/shared';
import { addRunLanes } from './insert-invocations.ts';
import type { Sql } from './database.ts';

/** Gives invocations back: another node, or a later moment, will run them. */
export async function releaseInvocations(sql: Sql, nodeId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      update invocations set leased_by = null,
        -- of a workflow: see HeldInvocation.attempts
        attempts = case when starts_with(source_id, ${ID_PREFIXES.workflow}) then greatest(attempts - 1, 1) else attempts end
      where id = any(${[...ids]}::text[]) and leased_by = ${nodeId}
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}
