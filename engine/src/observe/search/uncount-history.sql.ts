import type { Transaction } from '../../db/database.ts';

/**
 * Subtracts deleted bytes from an account's history, for deletions before retention. `beganMs`:
 * start of the part that the bytes belong to.
 */
export async function uncountHistory(
  tx: Transaction,
  accountId: string,
  freed: readonly { beganMs: number; bytes: number }[],
): Promise<void> {
  if (freed.length === 0) return;
  await tx`select from account_histories where account_id = ${accountId} for update`;
  await tx`
    with freed as (
      select p.began_ms, least(p.bytes, f.bytes) as bytes
      from unnest(
        ${freed.map(({ beganMs }) => beganMs)}::int8[], ${freed.map(({ bytes }) => bytes)}::int8[]
      ) as f(began_ms, bytes) join history_parts p on p.account_id = ${accountId} and p.began_ms = f.began_ms
    ), parts as (
      update history_parts p set bytes = p.bytes - freed.bytes from freed
      where p.account_id = ${accountId} and p.began_ms = freed.began_ms
    )
    update account_histories set bytes = bytes - (select coalesce(sum(bytes), 0)::int8 from freed)
    where account_id = ${accountId}`;
}
