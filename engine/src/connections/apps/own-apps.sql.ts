import type { AppDefinition } from '../../contract/app-definition.ts';
import type { Sql } from '../../db/database.ts';
import { CONNECTED_ACCOUNT_CHANGED_CHANNEL } from '../../db/notify-changed.ts';
import { lockAccount } from '../../accounts/require-room.sql.ts';
import { ownSlug } from './visible-apps.sql.ts';

export interface NewOwnApp {
  id: string;
  accountId: string;
  definition: AppDefinition;
  maxApps: number;
}

/**
 * Why there is no such app: the catalogue or the account has one of that slug, or the account has
 * all that it may have.
 */
type Refusal = 'in_catalogue' | 'taken' | 'full';

export async function insertOwnApp(sql: Sql, app: NewOwnApp): Promise<'made' | Refusal> {
  const { id, accountId, definition, maxApps } = app;
  const slug = ownSlug(accountId, definition.slug);
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    const [found] = await tx<{ in_catalogue: boolean; taken: boolean; own: number }[]>`
      select exists (select from apps where slug = ${definition.slug}) as in_catalogue,
        exists (select from all_apps where slug = ${slug}) as taken,
        (select count(*)::int from all_apps where account_id = ${accountId}) as own`;
    if (found?.in_catalogue === true) return 'in_catalogue';
    if (found?.taken === true) return 'taken';
    if ((found?.own ?? 0) >= maxApps) return 'full';
    await tx`
      insert into all_apps (id, account_id, slug, definition, is_changed)
      values (${id}, ${accountId}, ${slug}, ${JSON.stringify(definition)}::text::jsonb, true)`;
    return 'made';
  });
}

/** Runs read its connected accounts anew: other fields may be secret. */
export async function replaceOwnApp(
  sql: Sql,
  { accountId, id }: { accountId: string; id: string },
  definition: AppDefinition,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update all_apps set definition = ${JSON.stringify(definition)}::text::jsonb, updated_at = now()
      where id = ${id} and account_id = ${accountId}`;
    await tx`
      select pg_notify(${CONNECTED_ACCOUNT_CHANGED_CHANNEL}, id) from connected_accounts
      where account_id = ${accountId} and app_id = ${id} and deleted_at is null`;
  });
}

/**
 * Answers how many accounts are connected to it: with any it stays. Its OAuth client and open flows
 * go with it.
 */
export async function deleteOwnApp(sql: Sql, accountId: string, id: string): Promise<number> {
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    const [row] = await tx<{ connected: number }[]>`
      select count(*)::int as connected from connected_accounts
      where account_id = ${accountId} and app_id = ${id} and deleted_at is null`;
    const connected = row?.connected ?? 0;
    if (connected > 0) return connected;
    await tx`delete from oauth_states where account_id = ${accountId} and app_id = ${id}`;
    await tx`delete from connected_accounts where account_id = ${accountId} and app_id = ${id}`;
    await tx`delete from all_apps where account_id = ${accountId} and id = ${id}`;
    return 0;
  });
}
