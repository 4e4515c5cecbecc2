import { addRunLanes } from './insert-invocations.ts';
import type { Sql } from './database.ts';

/** Gives invocations back that this node has not run: another one, or a later moment, will. */
export async function releaseInvocations(sql: Sql, nodeId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      update invocations set leased_by = null, attempts = attempts - 1
      where id = any(${[...ids]}::text[]) and leased_by = ${nodeId}
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}
