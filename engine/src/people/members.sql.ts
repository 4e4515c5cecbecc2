import type { Role } from '@headwater/shared';
import { deletePeopleWithoutAccount, lockAccount } from '../accounts/index.ts';
import type { MemberRecord } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

interface Row {
  id: string;
  email: string;
  name: string;
  role: Role;
  joined_ms: number;
  seen_ms: number | null;
}

/** All members of the account, or the one with the id. */
export async function readAccountMembers(sql: Sql, accountId: string, userId?: string): Promise<MemberRecord[]> {
  const rows = await sql<Row[]>`
    select m.user_id as id, p.email, p.name, m.role, extract(epoch from m.created_at)::float8 * 1000 as joined_ms,
      (select extract(epoch from max(s.last_used_at))::float8 * 1000 from user_sessions s
        where s.person_id = p.id) as seen_ms
    from memberships m join people p on p.id = m.person_id
    where m.account_id = ${accountId} ${userId === undefined ? sql`` : sql`and m.user_id = ${userId}`}
    order by m.created_at, m.user_id`;
  return rows.map(({ joined_ms: joinedMs, seen_ms: seenMs, ...row }) => ({
    ...row,
    joinedAt: new Date(joinedMs),
    ...(seenMs === null ? {} : { lastSeenAt: new Date(seenMs) }),
  }));
}

/** The users that a person is, one in each account. */
export async function readUsersOf(
  sql: Sql | Transaction,
  personId: string,
): Promise<{ accountId: string; userId: string }[]> {
  return sql<{ accountId: string; userId: string }[]>`
    select account_id as "accountId", user_id as "userId" from memberships where person_id = ${personId}`;
}

/** Two changes of the members of an account come one after the other: each counts owners. */
export async function hasOwner(tx: Transaction, accountId: string, except = ''): Promise<boolean> {
  await lockAccount(tx, accountId);
  const [row] = await tx`
    select from memberships where account_id = ${accountId} and role = 'owner' and user_id <> ${except} limit 1`;
  return row !== undefined;
}

export async function readRole(tx: Transaction, accountId: string, userId: string): Promise<Role | undefined> {
  const [row] = await tx<{ role: Role }[]>`
    select role from memberships where account_id = ${accountId} and user_id = ${userId}`;
  return row?.role;
}

export async function updateRole(tx: Transaction, accountId: string, userId: string, role: Role): Promise<void> {
  await tx`update memberships set role = ${role} where account_id = ${accountId} and user_id = ${userId}`;
}

/** Answers the hashes (base64) of keys that were revoked with it. */
export async function deleteMember(
  tx: Transaction,
  accountId: string,
  userId: string,
  revokeKeys: boolean,
): Promise<string[]> {
  const gone = await tx<{ person_id: string }[]>`
    delete from memberships where account_id = ${accountId} and user_id = ${userId} returning person_id`;
  await deletePeopleWithoutAccount(
    tx,
    gone.map((row) => row.person_id),
  );
  // The person's name goes with it: a person without an account is forgotten.
  await tx`update users set username = 'former member' where account_id = ${accountId} and id = ${userId}`;
  await tx`
    delete from invitations where account_id = ${accountId} and invited_by in (
      select id from api_keys where account_id = ${accountId} and user_id = ${userId})`;
  if (!revokeKeys) return [];
  const keys = await tx<{ hash: string }[]>`
    update api_keys set revoked_at = now()
    where account_id = ${accountId} and user_id = ${userId} and revoked_at is null
    returning encode(key_hash, 'base64') as hash`;
  return keys.map(({ hash }) => hash);
}

/** Whether the account has a key that may do everything and does not expire. */
export async function hasLastingKey(tx: Transaction, accountId: string): Promise<boolean> {
  const rows = await tx`
    select from api_keys where account_id = ${accountId} and revoked_at is null and expires_at is null
      and 'full' = any(scopes) limit 1`;
  return rows.length > 0;
}

export async function countMembers(tx: Transaction, accountId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from memberships where account_id = ${accountId}`;
  return row?.count ?? 0;
}

export async function isMember(sql: Sql | Transaction, accountId: string, email: string): Promise<boolean> {
  const rows = await sql`
    select from memberships m join people p on p.id = m.person_id
    where m.account_id = ${accountId} and p.email = ${email}`;
  return rows.length > 0;
}

export interface NewMember {
  userId: string;
  accountId: string;
  personId: string;
  name: string;
  role: Role;
}

/** Answers false for one who is a member already. */
export async function insertMember(tx: Transaction, member: NewMember): Promise<boolean> {
  // Its e-mail address stays with the person: that of a user is where `$.send.email` sends to.
  await tx`
    insert into users (id, account_id, username) values (${member.userId}, ${member.accountId}, ${member.name})`;
  const rows = await tx`
    insert into memberships (user_id, account_id, person_id, role)
    values (${member.userId}, ${member.accountId}, ${member.personId}, ${member.role})
    on conflict (person_id, account_id) do nothing returning user_id`;
  return rows.length > 0;
}
