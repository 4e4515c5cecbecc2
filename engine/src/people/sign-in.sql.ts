import { createHash } from 'node:crypto';
import type { Sql, Transaction } from '../db/index.ts';

export interface SignInTurn {
  /** `email` and the like, so that two kinds never meet. */
  kind: 'email' | 'address' | 'reset' | 'challenge';
  of: string;
  /** So many at once, then one each `intervalSeconds`. */
  burst: number;
  intervalSeconds: number;
}

const keyOf = ({ kind, of }: Pick<SignInTurn, 'kind' | 'of'>) =>
  createHash('sha256').update(`${kind} ${of}`).digest('hex');

/** Takes one of them, on whatever node. Answers whether there was one. */
export async function takeSignInTurn(sql: Sql, turn: SignInTurn): Promise<boolean> {
  const interval = sql`make_interval(secs => ${turn.intervalSeconds})`;
  const rows = await sql`
    insert into sign_in_turns as t (key, full_at) values (decode(${keyOf(turn)}, 'hex'), now() + ${interval})
    on conflict (key) do update set full_at = greatest(t.full_at, now()) + ${interval}
    where greatest(t.full_at, now()) + ${interval} <= now() + ${turn.burst}::int4 * ${interval}
    returning key`;
  return rows.length > 0;
}

/** The whole burst may come again. */
export async function renewSignInTurns(sql: Sql, turn: Pick<SignInTurn, 'kind' | 'of'>): Promise<void> {
  await sql`delete from sign_in_turns where key = decode(${keyOf(turn)}, 'hex')`;
}

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
