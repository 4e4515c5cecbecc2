import type { Role } from '@headwater/shared';
import type { Principal } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { hashToken, type SessionBearer } from './session-token.ts';

interface Row {
  place: number;
  session_id: string;
  person_id: string;
  email: string;
  account_id: string;
  user_id: string;
  role: Role;
}

/**
 * Finds the members whose sessions these are, in the account that each names; undefined where there
 * is none, it has ended, or its person is no member there. Like findApiKeys it has no tenant yet.
 */
export async function findUserSessions(
  sql: Sql,
  bearers: readonly SessionBearer[],
): Promise<(Principal | undefined)[]> {
  const rows = await sql<Row[]>`
    select q.place::int4, s.id as session_id, p.id as person_id, p.email, m.account_id, m.user_id, m.role
    from unnest(${bearers.map(({ token }) => hashToken(token).toString('hex'))}::text[],
      ${bearers.map(({ accountId = '' }) => accountId)}::text[]) with ordinality as q(hash, account_id, place)
    join user_sessions s on s.token_hash = decode(q.hash, 'hex') and s.expires_at > now()
    join people p on p.id = s.person_id
    join lateral (
      select m.account_id, m.user_id, m.role from memberships m
      join accounts a on a.id = m.account_id and a.deleted_at is null
      where m.person_id = p.id and q.account_id in ('', m.account_id)
      order by m.created_at, m.account_id limit 1
    ) m on true`;
  const byPlace = new Map(rows.map((row) => [row.place, principalOf(row)]));
  return bearers.map((_, index) => byPlace.get(index + 1));
}

function principalOf(row: Row): Principal {
  const { role, email, person_id: personId, session_id: sessionId } = row;
  return {
    accountId: row.account_id,
    userId: row.user_id,
    member: { role, email, personId, sessionId },
    // Routes that read secrets or choose code ask for scopes.
    ...(role === 'viewer' ? { scopes: ['read'] as const } : {}),
  };
}
