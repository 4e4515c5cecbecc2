import { type AccountLimitName, type AccountLimits, keepKnownLimits } from '@headwater/shared';
import type { Sql } from '../db/database.ts';
import { notifyAccountChanged } from '../db/notify-changed.ts';

/**
 * Null takes back what was set. `check` throws where what is set may not be changed. Answers what
 * is set now, or undefined where there is no such account.
 */
export async function changeAccountLimits(
  sql: Sql,
  accountId: string,
  change: Partial<Record<AccountLimitName, number | null>>,
  check: (set: Partial<AccountLimits>) => void,
): Promise<Partial<AccountLimits> | undefined> {
  return sql.begin(async (tx) => {
    const [before] = await tx<{ limits: Record<string, unknown> }[]>`
      select limits from accounts where id = ${accountId} for no key update`;
    if (before === undefined) return undefined;
    check(keepKnownLimits(before.limits));
    const [row] = await tx<{ limits: Record<string, unknown> }[]>`
      update accounts set limits = jsonb_strip_nulls(limits || ${JSON.stringify(change)}::text::jsonb), updated_at = now()
      where id = ${accountId} returning limits`;
    if (row === undefined) return undefined;
    await notifyAccountChanged(tx, accountId);
    return keepKnownLimits(row.limits);
  });
}
