import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from './database.ts';

/**
 * Whether a claim takes a row: `bytes_before` of it is what those before it bring, null for the
 * first, which is taken whatever its size.
 */
export function fitsClaim(sql: Sql | Transaction) {
  return sql`coalesce(bytes_before, 0) <= ${LIMITS.maxClaimBytes}::int8`;
}

/**
 * Whether there may be more than what was taken. `found`: how many were looked at, the same in each
 * row.
 */
export function mayLeaveMore(taken: readonly { found: number }[], limit: number): boolean {
  const found = taken[0]?.found ?? 0;
  return found === limit || found > taken.length;
}
