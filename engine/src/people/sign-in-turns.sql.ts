import { createHash } from 'node:crypto';
import type { Sql } from '../db/database.ts';

export interface SignInTurn {
  /** `email` and the like, so that two kinds never meet. */
  kind: 'email' | 'address' | 'reset';
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
