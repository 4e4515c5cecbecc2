import { LIMITS } from '@headwater/shared';
import type { ClaimedKey, KeyedRequest } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';

export interface KeyRow {
  fingerprint: Buffer;
  /** Null: not answered yet. */
  status: number | null;
  headers: Record<string, string> | null;
  /** Sealed. */
  answer: string | null;
  answer_bytes: number;
  /** Whether the node that claimed it is still registered. */
  is_held: boolean;
}

/** False where the key is there already. */
export async function claimKeyOfRequest(sql: Sql, claim: ClaimedKey, nodeId: string): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_keys (account_id, key, fingerprint, claimed_by, claim_id)
    values (${claim.accountId}, ${claim.key}, ${claim.fingerprint}, ${nodeId}, ${claim.claimId})
    on conflict (account_id, key) do nothing returning key`;
  return rows.length > 0;
}

export async function readKeyOfRequest(sql: Sql, { accountId, key }: KeyedRequest): Promise<KeyRow | undefined> {
  const rows = await sql<KeyRow[]>`
    select k.fingerprint, k.status, k.headers, k.answer, k.answer_bytes,
      exists (select from nodes n where n.id = k.claimed_by) as is_held
    from idempotency_keys k where k.account_id = ${accountId} and k.key = ${key}`;
  return rows[0];
}

export async function storeKeyAnswer(
  sql: Sql,
  { accountId, key, claimId }: ClaimedKey,
  answer: { status: number; headers: Record<string, string>; sealed: string | null; bytes: number },
): Promise<void> {
  await sql`
    update idempotency_keys set status = ${answer.status}, headers = ${JSON.stringify(answer.headers)}::text::jsonb,
      answer = ${answer.sealed}, answer_bytes = ${answer.bytes}
    where account_id = ${accountId} and key = ${key} and claim_id = ${claimId}`;
}

export async function releaseKeyOfRequest(sql: Sql, { accountId, key, claimId }: ClaimedKey): Promise<void> {
  await sql`
    delete from idempotency_keys where account_id = ${accountId} and key = ${key} and claim_id = ${claimId}`;
}

export interface KeyUse {
  keys: number;
  bytes: number;
}

export async function readKeyUse(sql: Sql, accountId: string): Promise<KeyUse> {
  const [row] = await sql<{ keys: number; bytes: number }[]>`
    select count(*)::float8 as keys, coalesce(sum(answer_bytes), 0)::float8 as bytes
    from idempotency_keys where account_id = ${accountId}`;
  return row ?? { keys: 0, bytes: 0 };
}

/**
 * Deletes at most `limit` keys older than LIMITS.idempotencyKeyHours. Returns the number deleted.
 */
export async function expireIdempotencyKeys(sql: Sql, limit: number): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys k using (
      select account_id, key from idempotency_keys
      where created_at < now() - make_interval(hours => ${LIMITS.idempotencyKeyHours}::int4)
      order by created_at limit ${limit} for update skip locked
    ) as old
    where k.account_id = old.account_id and k.key = old.key`;
  return rows.count;
}
