import type { Role } from '@headwater/shared';
import type { Membership, Principal, UserRecord } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { hashToken, type SessionBearer } from './session-token.ts';

interface UserRow {
  username: string;
  email: string | null;
  account_name: string;
  sources: number;
  workflows: number;
  webhooks: number;
  subscriptions: number;
}

export async function readUser(
  sql: Sql,
  accountId: string,
  userId: string,
): Promise<Omit<UserRecord, 'limits' | 'memberships'> | undefined> {
  const [row] = await sql<UserRow[]>`
    select u.username, coalesce(p.email, u.email) as email, a.name as account_name,
      (select count(*)::int4 from sources s
        where s.account_id = a.id and s.deleted_at is null and s.deployed_at is not null) as sources,
      (select count(*)::int4 from emitters p
        where p.account_id = a.id and p.kind = 'workflow' and p.deleted_at is null) as workflows,
      (select count(*)::int4 from webhooks w where w.account_id = a.id) as webhooks,
      (select count(*)::int4 from subscriptions b where b.account_id = a.id)
        + (select count(*)::int4 from auto_subscriptions b where b.account_id = a.id) as subscriptions
    from users u join accounts a on a.id = u.account_id
    left join memberships m on m.user_id = u.id left join people p on p.id = m.person_id
    where u.account_id = ${accountId} and u.id = ${userId}`;
  return (
    row && {
      id: userId,
      username: row.username,
      ...(row.email !== null && { email: row.email }),
      account: { id: accountId, name: row.account_name },
      usage: {
        sources: row.sources,
        workflows: row.workflows,
        webhooks: row.webhooks,
        subscriptions: row.subscriptions,
      },
    }
  );
}

/** The accounts of a person, by name. */
export async function readMemberships(sql: Sql, personId: string): Promise<Membership[]> {
  return sql<Membership[]>`
    select a.id, a.name, m.role from memberships m join accounts a on a.id = m.account_id and a.deleted_at is null
    where m.person_id = ${personId} order by a.name, a.id`;
}

/** The oldest user of the oldest account, if there is any. */
export async function readFirstUser(tx: Sql | Transaction): Promise<{ accountId: string; userId: string } | undefined> {
  const [row] = await tx<{ account_id: string; user_id: string }[]>`
    select a.id as account_id, u.id as user_id
    from accounts a join users u on u.account_id = a.id
    where a.deleted_at is null
    order by a.created_at, a.id, u.created_at, u.id limit 1`;
  return row && { accountId: row.account_id, userId: row.user_id };
}

/** Undefined where there is no such account. */
export async function readOldestUser(sql: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from users where account_id = (select id from accounts where id = ${accountId} and deleted_at is null) order by created_at, id limit 1`;
  return row?.id;
}

interface SessionRow {
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
  const rows = await sql<SessionRow[]>`
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
  const byPlace = new Map(rows.map((row) => [row.place, memberOf(row)]));
  return bearers.map((_, index) => byPlace.get(index + 1));
}

function memberOf(row: SessionRow): Principal {
  const { role, email, person_id: personId, session_id: sessionId } = row;
  return {
    accountId: row.account_id,
    userId: row.user_id,
    member: { role, email, personId, sessionId },
    // Routes that read secrets or choose code ask for scopes.
    ...(role === 'viewer' ? { scopes: ['read'] as const } : {}),
  };
}

/** As recordKeyUses, for sessions of members. */
export async function recordSessionUses(
  sql: Sql,
  uses: readonly (readonly [sessionId: string, atMs: number])[],
): Promise<void> {
  const ordered = uses.toSorted(([a], [b]) => (a < b ? -1 : 1));
  await sql`
    with used as (
      select s.id, t.at from unnest(
        ${ordered.map(([id]) => id)}::text[], ${ordered.map(([, atMs]) => atMs / 1000)}::float8[]
      ) as x(id, seconds) cross join lateral (select to_timestamp(x.seconds) as at) as t
      join user_sessions s on s.id = x.id and s.last_used_at < t.at
      order by s.id for update of s
    )
    update user_sessions s set last_used_at = used.at from used where s.id = used.id`;
}
