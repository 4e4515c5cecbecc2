import type { Sql } from '../../db/database.ts';

/**
 * The rows that an account may see and use of `all_apps a`: the catalogue and its own. Undefined:
 * the catalogue alone.
 */
export function seenBy(sql: Sql, accountId: string | undefined) {
  return accountId === undefined
    ? sql`a.account_id is null`
    : sql`(a.account_id is null or a.account_id = ${accountId})`;
}

/** The slug of an account's app as it is stored; that of nothing without an account. */
export function ownSlug(accountId: string | undefined, slug: string): string {
  return `${accountId ?? ''}:${slug}`;
}
