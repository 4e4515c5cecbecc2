import type { SignInClient, UserSessionRecord } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';

export interface NewUserSession {
  id: string;
  personId: string;
  tokenHash: Uint8Array;
  days: number;
  client: SignInClient;
  /** Password with which the person signed in; no session begins once another one is set. */
  passwordHash?: string;
}

/**
 * Makes room first: with more than `maxSessions` the oldest ends. Answers false if the person is
 * gone or has another password by now.
 */
export async function insertUserSession(
  tx: Sql | Transaction,
  { id, personId, tokenHash, days, client, passwordHash }: NewUserSession,
  maxSessions: number,
): Promise<boolean> {
  await tx`
    delete from user_sessions where id in (
      select id from user_sessions where person_id = ${personId} order by created_at desc, id desc
      offset ${maxSessions - 1})`;
  const hash = passwordHash ?? null;
  // The lock waits for a change of the password, and then finds the new one.
  const rows = await tx`
    insert into user_sessions (id, person_id, token_hash, address, user_agent, expires_at)
    select ${id}::text, p.id, ${tokenHash}::bytea, ${client.address ?? null}::text, ${client.userAgent ?? null}::text,
      now() + make_interval(days => ${days}::int4)
    from people p where p.id = ${personId} and (${hash}::text is null or p.password_hash = ${hash}::text)
    for share of p returning id`;
  return rows.length > 0;
}

export async function isOpenSession(tx: Transaction, personId: string, id: string): Promise<boolean> {
  const rows = await tx`
    select from user_sessions where person_id = ${personId} and id = ${id} and expires_at > now()`;
  return rows.length > 0;
}

/** The member has signed in within the last `minutes`. */
export async function isYoungSession(sql: Sql, personId: string, id: string, minutes: number): Promise<boolean> {
  const rows = await sql`
    select from user_sessions where person_id = ${personId} and id = ${id} and expires_at > now()
      and created_at > now() - make_interval(mins => ${minutes}::int4)`;
  return rows.length > 0;
}

interface Row {
  id: string;
  address: string | null;
  user_agent: string | null;
  created_ms: number;
  used_ms: number;
  expires_ms: number;
}

export async function readUserSessions(sql: Sql, personId: string): Promise<UserSessionRecord[]> {
  const rows = await sql<Row[]>`
    select id, address, user_agent, extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from last_used_at)::float8 * 1000 as used_ms,
      extract(epoch from expires_at)::float8 * 1000 as expires_ms
    from user_sessions where person_id = ${personId} and expires_at > now() order by created_at desc, id desc`;
  return rows.map((row) => ({
    id: row.id,
    createdAt: new Date(row.created_ms),
    lastUsedAt: new Date(row.used_ms),
    expiresAt: new Date(row.expires_ms),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.user_agent === null ? {} : { userAgent: row.user_agent }),
  }));
}

/** Answers whether it was one of the person. */
export async function deleteUserSession(sql: Sql, personId: string, id: string): Promise<boolean> {
  return (await sql`delete from user_sessions where person_id = ${personId} and id = ${id} returning id`).length > 0;
}

/** Answers the id of the session that had the token. */
export async function deleteSessionOfToken(sql: Sql, tokenHash: Uint8Array): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    delete from user_sessions where token_hash = ${tokenHash} returning id`;
  return row?.id;
}
