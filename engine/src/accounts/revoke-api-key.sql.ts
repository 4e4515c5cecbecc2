import type { Sql } from '../db/database.ts';

export type RevokeOutcome = { kind: 'revoked'; keyHash: string } | { kind: 'not-found' } | { kind: 'last-key' };

/** Idempotent for a key that is revoked already. `keyHash` in base64. */
export async function revokeApiKey(sql: Sql, accountId: string, id: string): Promise<RevokeOutcome> {
  // Postgres text cannot hold NUL, so no id has one.
  if (id.includes('\0')) return { kind: 'not-found' };
  return sql.begin(async (tx): Promise<RevokeOutcome> => {
    // Two calls that revoke the last two keys would each see the other's as still there.
    await tx`select from accounts where id = ${accountId} for update`;
    const [key] = await tx<{ hash: string; revoked: boolean; is_limited: boolean; others: number }[]>`
      select encode(k.key_hash, 'base64') as hash, k.revoked_at is not null as revoked,
        k.expires_at is not null or not 'full' = any(k.scopes) as is_limited,
        (select count(*)::int4 from api_keys o
          where o.account_id = k.account_id and o.id <> k.id and o.revoked_at is null
            and o.expires_at is null and 'full' = any(o.scopes)) as others
      from api_keys k where k.account_id = ${accountId} and k.id = ${id}`;
    if (key === undefined) return { kind: 'not-found' };
    if (!key.revoked && !key.is_limited && key.others === 0) return { kind: 'last-key' };
    await tx`
      update api_keys set revoked_at = now()
      where account_id = ${accountId} and id = ${id} and revoked_at is null`;
    // A leaked key may have invited.
    await tx`delete from invitations where account_id = ${accountId} and invited_by = ${id}`;
    return { kind: 'revoked', keyHash: key.hash };
  });
}
