import type { ImportedComponent, ImportRecord, ImportScope } from '../contract/index.ts';
import type { Sql, Transaction } from '../db/index.ts';
import { type ImportFile, type ImportTurn, insertImportFiles } from './registry-import-files.sql.ts';

export interface NewImport {
  id: string;
  accountId: string;
  userId: string;
  scope: ImportScope;
  files: readonly ImportFile[];
  total: number;
}

export async function countWaitingImports(sql: Sql | Transaction, accountId: string): Promise<number> {
  const [count] = await sql<{ waiting: number }[]>`
    select count(*)::int as waiting from registry_imports where account_id = ${accountId} and ended_at is null`;
  return count?.waiting ?? 0;
}

/**
 * Undefined where `maxWaiting` of the account are under way. Of those that have ended it keeps the
 * newest `kept`.
 */
export async function insertImport(
  sql: Sql,
  { id, accountId, userId, scope, files, total }: NewImport,
  { maxWaiting, kept }: { maxWaiting: number; kept: number },
): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    await tx`select id from accounts where id = ${accountId} for no key update`;
    if ((await countWaitingImports(tx, accountId)) >= maxWaiting) return undefined;
    await tx`
      delete from registry_imports where id in (
        select id from registry_imports where account_id = ${accountId} and ended_at is not null
        order by created_at desc offset ${kept})`;
    await tx`
      insert into registry_imports (id, account_id, user_id, scope, total)
      values (${id}, ${accountId}, ${userId}, ${scope}, ${total})`;
    await insertImportFiles(tx, id, files);
    return id;
  });
}

interface ImportRow {
  id: string;
  scope: ImportScope;
  total: number;
  created_ms: number;
  ended_ms: number | null;
}

export async function readImport(sql: Sql, accountId: string, id: string): Promise<ImportRecord | undefined> {
  const [row] = await sql<ImportRow[]>`
    select id, scope, total, extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from ended_at)::float8 * 1000 as ended_ms
    from registry_imports where account_id = ${accountId} and id = ${id}`;
  if (row === undefined) return undefined;
  const results = await sql<
    {
      path: string;
      component_id: string | null;
      key: string | null;
      version: string | null;
      error: ImportError | null;
    }[]
  >`
    select path, component_id, key, version, error from registry_import_results
    where import_id = ${id} order by path collate "C"`;
  return {
    id: row.id,
    scope: row.scope,
    total: row.total,
    createdAt: new Date(row.created_ms),
    ...(row.ended_ms === null ? {} : { endedAt: new Date(row.ended_ms) }),
    components: results.map(({ path, component_id: componentId, key, version, error }) => ({
      path,
      ...(componentId === null ? {} : { componentId }),
      ...(key === null ? {} : { key }),
      ...(version === null ? {} : { version }),
      ...(error === null ? {} : { error }),
    })),
  };
}

type ImportError = NonNullable<ImportedComponent['error']>;

export interface ClaimedImport extends ImportTurn {
  accountId: string;
  userId: string;
  scope: ImportScope;
}

interface ClaimedRow {
  id: string;
  account_id: string;
  user_id: string;
  scope: ImportScope;
  turn_at: string;
}

/**
 * The import of an account whose last turn is longest ago; undefined if none waits. Takes one
 * import per account at a time. Skips accounts that must pause, and `others`.
 */
export async function claimImport(
  sql: Sql,
  leaseSeconds: number,
  others: readonly string[] = [],
): Promise<ClaimedImport | undefined> {
  const [row] = await sql<ClaimedRow[]>`
    update registry_imports set leased_until = now() + make_interval(secs => ${leaseSeconds}), turn_at = clock_timestamp()
    where id = (
      select i.id from registry_imports i
      where i.ended_at is null and (i.leased_until is null or i.leased_until < now())
        and i.account_id <> all(${[...others]}::text[])
        and not exists (
          select from registry_imports o
          where o.account_id = i.account_id and o.ended_at is null and o.leased_until > now())
      order by
        (select max(o.turn_at) from registry_imports o where o.account_id = i.account_id) nulls first,
        i.turn_at nulls first, i.created_at
      limit 1 for update skip locked)
    returning id, account_id, user_id, scope, turn_at::text as turn_at`;
  if (row === undefined) return undefined;
  return { id: row.id, turnAt: row.turn_at, accountId: row.account_id, userId: row.user_id, scope: row.scope };
}

/** Does nothing where the turn was lost. */
export async function extendImport(sql: Sql, { id, turnAt }: ImportTurn, leaseSeconds: number): Promise<void> {
  await sql`
    update registry_imports set leased_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${id} and turn_at = ${turnAt}::text::timestamptz and ended_at is null`;
}

/**
 * Does nothing if the turn was lost: the node that has it now imports the component as well, and
 * records the result.
 */
export async function recordImported(sql: Sql, { id, turnAt }: ImportTurn, result: ImportedComponent): Promise<void> {
  const { path, componentId, key, version, error } = result;
  await sql`
    insert into registry_import_results (import_id, path, component_id, key, version, error)
    select id, ${path}::text, ${componentId ?? null}::text, ${key ?? null}::text, ${version ?? null}::text,
      ${error === undefined ? null : JSON.stringify(error)}::text::jsonb
    from registry_imports where id = ${id} and turn_at = ${turnAt}::text::timestamptz and ended_at is null for key share
    on conflict (import_id, path) do nothing`;
}

/**
 * `ended`: all of its components are through; `restSeconds`: no import of the account is claimed
 * for so long.
 */
export type TurnEnd = { kind: 'ended' } | { kind: 'waits'; restSeconds: number };

/** Gives the turn back. Does nothing if it was lost. */
export async function releaseImport(sql: Sql, { id, turnAt }: ImportTurn, end: TurnEnd): Promise<void> {
  if (end.kind === 'waits') {
    await sql`
      update registry_imports set leased_until = now() + make_interval(secs => ${end.restSeconds})
      where id = ${id} and turn_at = ${turnAt}::text::timestamptz and ended_at is null`;
    return;
  }
  await sql`
    with ended as (
      update registry_imports set leased_until = null, ended_at = now()
      where id = ${id} and turn_at = ${turnAt}::text::timestamptz and ended_at is null returning id)
    delete from registry_import_files where import_id in (select id from ended)`;
}
