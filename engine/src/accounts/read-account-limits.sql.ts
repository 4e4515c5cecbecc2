import { type AccountLimits, keepKnownLimits } from '@headwater/shared';
import type { Sql } from '../db/database.ts';

/** What is set for the account; undefined where there is no such account. */
export async function readAccountLimits(sql: Sql, accountId: string): Promise<Partial<AccountLimits> | undefined> {
  const [row] = await sql<{ limits: Record<string, unknown> }[]>`select limits from accounts where id = ${accountId}`;
  return row && keepKnownLimits(row.limits);
}
