import type { Sql } from '../db/database.ts';

/**
 * Deletes what has ended: sessions, invitations, links, and turns that are whole again. Answers how
 * many rows.
 */
export async function expirePeople(sql: Sql, limit: number): Promise<number> {
  const sessions = await sql`
    delete from user_sessions where id in (
      select id from user_sessions where expires_at <= now() limit ${limit} for update skip locked) returning id`;
  const invitations = await sql`
    delete from invitations where id in (
      select id from invitations where expires_at <= now() limit ${limit} for update skip locked) returning id`;
  const resets = await sql`
    delete from password_resets where token_hash in (
      select token_hash from password_resets where expires_at <= now() limit ${limit} for update skip locked)
    returning person_id`;
  const turns = await sql`
    delete from sign_in_turns where key in (
      select key from sign_in_turns where full_at <= now() limit ${limit} for update skip locked) returning key`;
  return Math.max(sessions.length, invitations.length, resets.length, turns.length);
}
