import type { AccountSettings } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { notifyAccountChanged } from '../db/notify-changed.ts';

/** Undefined: there is no such account. */
export async function readAccountSettings(sql: Sql, accountId: string): Promise<AccountSettings | undefined> {
  const [row] = await sql<{ trace_context: boolean }[]>`select trace_context from accounts where id = ${accountId}`;
  return row && { accountId, traceContext: row.trace_context };
}

/** A setting that is not given stays. */
export async function changeAccountSettings(
  sql: Sql,
  accountId: string,
  { traceContext }: Partial<Omit<AccountSettings, 'accountId'>>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update accounts set trace_context = coalesce(${traceContext ?? null}::boolean, trace_context), updated_at = now()
      where id = ${accountId}`;
    await notifyAccountChanged(tx, accountId);
  });
}
