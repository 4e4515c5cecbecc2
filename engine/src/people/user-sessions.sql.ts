import type { SignInClient, UserSessionRecord } from '../contract/people.ts';
import type { Sql, Transaction } from '../db/database.ts';

export interface NewUserSession {
  id: string;
  personId: string;
  tokenHash: Uint8Array;
  days: number;
  client: SignInClient;
}

/** Makes room first: with more than `maxSessions` the oldest ends. */
export async function insertUserSession(
  tx: Sql | Transaction,
  { id, personId, tokenHash, days, client }: NewUserSession,
  maxSessions: number,
): Promise<void> {
  await tx`
    delete from user_sessions where id in (
      select id from user_sessions where person_id = ${personId} order by created_at desc, id desc
      offset ${maxSessions - 1})`;
  await tx`
    insert into user_sessions (id, person_id, token_hash, address, user_agent, expires_at)
    values (${id}, ${personId}, ${tokenHash}, ${client.address ?? null}, ${client.userAgent ?? null},
      now() + make_interval(days => ${days}))`;
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
