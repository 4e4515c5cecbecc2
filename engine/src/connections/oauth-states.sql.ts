import type { Sql } from '../db/database.ts';
import { lockAccount } from '../accounts/require-room.sql.ts';

export interface OAuthStateRow {
  account_id: string;
  user_id: string;
  app_id: string;
  /** Sealed. */
  request: string;
  /** The name of the account. */
  workspace: string;
}

export interface NewOAuthState {
  stateHash: Buffer;
  accountId: string;
  userId: string;
  appId: string;
  request: string;
  ttlSeconds: number;
  /** Maximum of one account; the oldest are deleted. */
  maxOpen: number;
}

/** Answers when it expires. */
export async function insertOAuthState(sql: Sql, state: NewOAuthState): Promise<Date> {
  const { accountId, maxOpen } = state;
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    await tx`
      delete from oauth_states where account_id = ${accountId} and (expires_at <= now() or state_hash in (
        select state_hash from oauth_states where account_id = ${accountId}
        order by expires_at desc offset ${maxOpen - 1}))`;
    const rows = await tx<{ expires_ms: number }[]>`
      insert into oauth_states (state_hash, account_id, user_id, app_id, request, expires_at)
      values (${state.stateHash}, ${accountId}, ${state.userId}, ${state.appId}, ${state.request},
        now() + ${state.ttlSeconds}::float8 * interval '1 second')
      returning extract(epoch from expires_at)::float8 * 1000 as expires_ms`;
    return new Date(rows[0]?.expires_ms ?? Date.now());
  });
}

/**
 * The flow of this state, once: of two callbacks with the same state one gets it. Undefined for an
 * expired one too.
 */
export async function takeOAuthState(sql: Sql, stateHash: Buffer): Promise<OAuthStateRow | undefined> {
  const rows = await sql<(OAuthStateRow & { is_open: boolean })[]>`
    delete from oauth_states s using accounts a
    where s.state_hash = ${stateHash} and a.id = s.account_id
    returning s.account_id, s.user_id, s.app_id, s.request, a.name as workspace, s.expires_at > now() as is_open`;
  const [row] = rows;
  return row?.is_open === true ? row : undefined;
}
