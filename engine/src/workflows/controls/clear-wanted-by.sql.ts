import type { Sql } from '../../db/database.ts';

/** No client waits for the execution any more: any node may start it. */
export async function clearWantedBy(sql: Sql, executionId: string): Promise<void> {
  await sql`update invocations set wanted_by = null where id = ${executionId} and leased_by is null`;
}
