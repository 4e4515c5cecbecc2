import type { AccountChange } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { notifyAccountChanged } from '../db/notify-changed.ts';

/**
 * A field that is not given stays; the e-mail address is that of the first user. Answers whether
 * there is such an account.
 */
export async function changeAccount(sql: Sql, accountId: string, { name, email }: AccountChange): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update accounts set name = coalesce(${name ?? null}, name), updated_at = now() where id = ${accountId} returning id`;
    if (rows.length === 0) return false;
    if (email === undefined) return true;
    await tx`
      update users set email = ${email} where id = (
        select id from users where account_id = ${accountId} order by created_at, id limit 1
      )`;
    return true;
  });
}

/**
 * An account that is suspended already keeps its time. Answers whether there is such an account.
 */
export async function suspendAccount(sql: Sql, accountId: string, isSuspended: boolean): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update accounts set suspended_at = case when ${isSuspended} then coalesce(suspended_at, now()) end, updated_at = now()
      where id = ${accountId} and deleted_at is null returning id`;
    if (rows.length > 0) await notifyAccountChanged(tx, accountId);
    return rows.length > 0;
  });
}
