import { newId } from '@headwater/shared';
import { lockAccount } from '../../accounts/index.ts';
import type { AppDefinition, StoredApp } from '../../contract/index.ts';
import { CONNECTED_ACCOUNT_CHANGED_CHANNEL, type Sql } from '../../db/index.ts';

/**
 * The rows that an account may see and use of `all_apps a`: the catalogue and its own. Undefined:
 * the catalogue alone.
 */
export function seenBy(sql: Sql, accountId: string | undefined) {
  return accountId === undefined
    ? sql`a.account_id is null`
    : sql`(a.account_id is null or a.account_id = ${accountId})`;
}

/** The slug of an account's app as it is stored; that of nothing without an account. */
export function ownSlug(accountId: string | undefined, slug: string): string {
  return `${accountId ?? ''}:${slug}`;
}

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

/** False where the slug is taken. */
export async function insertApp(sql: Sql, id: string, definition: AppDefinition): Promise<boolean> {
  const rows = await sql`
    insert into apps (id, slug, definition, is_changed)
    values (${id}, ${definition.slug}, ${JSON.stringify(definition)}::text::jsonb, true)
    on conflict (slug) do nothing returning id`;
  return rows.length > 0;
}

/** From now on the catalogue of the code leaves it as it is. */
export async function replaceApp(sql: Sql, id: string, definition: AppDefinition): Promise<void> {
  await sql`
    update apps set definition = ${JSON.stringify(definition)}::text::jsonb, is_changed = true, updated_at = now()
    where id = ${id}`;
}

interface AppRow {
  id: string;
  account_id: string | null;
  hides_catalogue: boolean;
  definition: AppDefinition;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql) => sql`
  a.id, a.definition, a.account_id,
  a.account_id is not null and exists (select from apps c where c.slug = a.definition ->> 'slug') as hides_catalogue,
  extract(epoch from a.created_at)::float8 * 1000 as created_ms,
  extract(epoch from a.updated_at)::float8 * 1000 as updated_ms`;

/** From the catalogue or from this account; the account's own app comes first. */
export async function readApp(
  sql: Sql,
  accountId: string | undefined,
  slugOrId: string,
): Promise<StoredApp | undefined> {
  const rows = await sql<AppRow[]>`
    select ${columns(sql)} from all_apps a
    where a.id = any(array(
      select id from all_apps where id = ${slugOrId} or slug in (${slugOrId}, ${ownSlug(accountId, slugOrId)})
    )) and ${seenBy(sql, accountId)}
    order by a.account_id nulls last limit 1`;
  return rows[0] && storedApp(rows[0]);
}

/** The app that is called so, else those that have it in their slug or name. */
export async function searchAppIds(sql: Sql, accountId: string, query: string): Promise<string[]> {
  const text = query.toLowerCase();
  const rows = await sql<{ id: string; is_exact: boolean }[]>`
    select a.id, a.definition ->> 'slug' = ${query} or a.id = ${query} as is_exact from all_apps a
    where ${seenBy(sql, accountId)} and (a.id = ${query} or ${matches(sql, text)})`;
  const exact = rows.filter((row) => row.is_exact);
  return (exact.length > 0 ? exact : rows).map((row) => row.id);
}

/** position() instead of like: the search text may contain % and _. */
function matches(sql: Sql, text: string) {
  return sql`(position(${text} in lower(a.definition ->> 'slug')) > 0
    or position(${text} in lower(a.definition ->> 'name')) > 0)`;
}

export interface AppPageRequest {
  limit: number;
  /** In the order of slugs: those that follow this one, or precede it. */
  after?: string;
  before?: string;
  query?: string;
}

/**
 * A slice of the catalogue with the account's own apps, in the order of slugs; `total` counts all
 * that `query` finds. An app of the catalogue that one of the account hides is left out.
 */
export async function readAppPage(
  sql: Sql,
  accountId: string,
  page: AppPageRequest,
): Promise<{ apps: StoredApp[]; total: number }> {
  const isUpward = page.before !== undefined && page.after === undefined;
  const text = page.query?.toLowerCase() ?? '';
  const found = sql`
    from all_apps a where ${seenBy(sql, accountId)} and (${text} = '' or ${matches(sql, text)})
    and not (a.account_id is null and exists (select from all_apps o where o.slug = ${`${accountId}:`} || a.slug))`;
  const slug = sql`(a.definition ->> 'slug') collate "C"`;
  const direction = isUpward ? sql`desc` : sql`asc`;
  const [rows, counted] = await Promise.all([
    sql<AppRow[]>`
      select ${columns(sql)} ${found}
      ${page.after === undefined ? sql`` : sql`and ${slug} > ${page.after}`}
      ${page.before === undefined ? sql`` : sql`and ${slug} < ${page.before}`}
      order by ${slug} ${direction} limit ${page.limit}`,
    sql<{ total: number }[]>`select count(*)::int as total ${found}`,
  ]);
  const apps = rows.map(storedApp);
  return { apps: isUpward ? apps.toReversed() : apps, total: counted[0]?.total ?? 0 };
}

function storedApp(row: AppRow): StoredApp {
  const { id, definition, account_id: accountId, created_ms: createdMs, updated_ms: updatedMs } = row;
  const own = accountId === null ? {} : { accountId, hidesCatalogue: row.hides_catalogue };
  return { id, definition, ...own, createdAt: new Date(createdMs), updatedAt: new Date(updatedMs) };
}

/** Adds the apps that are missing and brings those up to date that no operator has changed. */
export async function seedApps(sql: Sql, definitions: readonly AppDefinition[]): Promise<void> {
  const rows = definitions.map((definition) => ({ id: newId('app'), slug: definition.slug, definition }));
  await sql`
    insert into apps (id, slug, definition)
    select id, slug, definition from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as given (id text, slug text, definition jsonb)
    on conflict (slug) do update set definition = excluded.definition, updated_at = now()
    where not apps.is_changed and apps.definition <> excluded.definition`;
}
