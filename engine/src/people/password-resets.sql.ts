import type { Sql, Transaction } from '../db/database.ts';

/** Adds one, in the place of the oldest where the person has `max`. */
export async function insertPasswordReset(
  tx: Transaction,
  { personId, tokenHash, minutes }: { personId: string; tokenHash: Uint8Array; minutes: number },
  max: number,
): Promise<void> {
  await tx`
    delete from password_resets where token_hash in (
      select token_hash from password_resets where person_id = ${personId}
      order by expires_at desc, token_hash offset ${max - 1})`;
  // The person may have been forgotten meanwhile.
  await tx`
    insert into password_resets (token_hash, person_id, expires_at)
    select ${tokenHash}::bytea, id, now() + make_interval(mins => ${minutes}::int4) from people where id = ${personId}`;
}

/** The person whose link it is. */
export async function findPasswordReset(sql: Sql, tokenHash: Uint8Array): Promise<string | undefined> {
  const [row] = await sql<{ person_id: string }[]>`
    select person_id from password_resets where token_hash = ${tokenHash} and expires_at > now()`;
  return row?.person_id;
}

/** Answers whether it was there: a link works once. */
export async function deletePasswordReset(tx: Transaction, tokenHash: Uint8Array): Promise<boolean> {
  const rows = await tx`
    delete from password_resets where token_hash = ${tokenHash} and expires_at > now() returning person_id`;
  return rows.length > 0;
}
