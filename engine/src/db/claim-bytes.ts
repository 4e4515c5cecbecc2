import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from './database.ts';

/**
 * Whether a claim takes a row. `bytes_before`: the bytes of the rows before it; null for the first
 * row, which is taken whatever its size.
 */
export function fitsClaim(sql: Sql | Transaction) {
  return sql`coalesce(bytes_before, 0) <= ${LIMITS.maxClaimBytes}::int8`;
}

/**
 * Whether more rows may be left than were taken. `found`: the number of rows examined, the same in
 * each row.
 */
export function mayLeaveMore(taken: readonly { found: number }[], limit: number): boolean {
  const found = taken[0]?.found ?? 0;
  return found === limit || found > taken.length;
}
