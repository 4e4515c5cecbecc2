import { type AccountLimits, keepKnownLimits } from '@headwater/shared';
import type { Sql } from '../db/database.ts';

/** The limits set for the account; undefined if it does not exist. */
export async function readAccountLimits(sql: Sql, accountId: string): Promise<Partial<AccountLimits> | undefined> {
  const [row] = await sql<{ limits: Record<string, unknown> }[]>`select limits from accounts where id = ${accountId}`;
  return row && keepKnownLimits(row.limits);
}

/**
 * As readAccountLimits, with whether the operator has suspended the account, and whether it wants
 * traces passed on.
 */
export async function readAccountState(
  sql: Sql,
  accountId: string,
): Promise<(Partial<AccountLimits> & { isSuspended: boolean; passesTraces: boolean }) | undefined> {
  const [row] = await sql<{ limits: Record<string, unknown>; is_suspended: boolean; trace_context: boolean }[]>`
    select limits, suspended_at is not null as is_suspended, trace_context from accounts where id = ${accountId}`;
  return row && { ...keepKnownLimits(row.limits), isSuspended: row.is_suspended, passesTraces: row.trace_context };
}
