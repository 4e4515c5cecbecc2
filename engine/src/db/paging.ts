import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';
import type postgres from 'postgres';
import { findCountFault, type PageRequest, throwFields } from '../contract/index.ts';
import type { Sql } from './database.ts';

/** One page of a list as ids, in the order to show them. The caller reads the rows. */
export interface IdPage {
  ids: string[];
  total: number;
  startCursor?: string;
  endCursor?: string;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * Narrows a list to rows that have the text in one of the columns, in either case. `position()`
 * instead of `like`: the text may contain % and _.
 */
export function namedLike(sql: Sql, columns: readonly string[], text: string | undefined): Fragment {
  if (text === undefined || text === '') return sql``;
  const matches = columns.map((column) => sql`position(lower(${text}) in lower(${sql(column)})) > 0`);
  const either = matches.reduce((others, one) => sql`${others} or ${one}`);
  return sql`and (${either})`;
}

export interface PageQuery {
  table:
    | 'abandoned_runs'
    | 'accounts'
    | 'api_keys'
    | 'audit_log'
    | 'auto_subscriptions'
    | 'components'
    | 'connected_accounts'
    | 'data_stores'
    | 'deployments'
    | 'emitters'
    | 'replays'
    | 'runs'
    | 'sample_requests'
    | 'sends'
    | 'sources'
    | 'subscriptions'
    | 'webhooks';
  /** Owner of the rows; absent only for the operator's lists. */
  accountId: string | undefined;
  /** Narrows the list: `` sql`and deleted_at is null` ``. */
  where?: Fragment;
  /**
   * `created`: by created_at, then id, newest first (index on account_id, created_at). `id`: by id
   * alone, which also grows with time. It is for tables that compare ids by byte and whose index
   * ends in the id.
   */
  order: 'created' | 'id';
  /**
   * Maximum that `total` counts, for lists of activity rather than of resources. Default: no
   * maximum.
   */
  maxCounted?: number;
  /**
   * Size of a row as shown, in bytes, for tables whose rows may have megabytes. A page ends before
   * it gets too large.
   */
  bytes?: Fragment;
}

/**
 * Pages through a list by key, so that entries added or deleted meanwhile neither repeat nor hide
 * others. `after` continues below a cursor, `before` returns the entries just above it. `total`
 * counts the whole list, or up to `maxCounted`. Throws INVALID_REQUEST naming `limit`, `after` or
 * `before`.
 */
export async function readPage(sql: Sql, query: PageQuery, page: PageRequest): Promise<IdPage> {
  checkPageSize(page.limit);
  const after = decodeCursor('after', page.after);
  const before = decodeCursor('before', page.before);
  const isUpward = before !== undefined && after === undefined;
  const scope = sql`from ${sql(query.table)} where ${ownedBy(sql, query)} ${query.where ?? sql``}`;
  const direction = isUpward ? sql`asc` : sql`desc`;
  const micros = query.order === 'created' ? sql`(extract(epoch from created_at) * 1000000)::int8` : sql`0::int8`;
  const order = query.order === 'created' ? sql`created_at ${direction}, id ${direction}` : sql`id ${direction}`;
  const [rows, counted] = await Promise.all([
    sql<Cursor[]>`
      select id, ${micros} as micros ${scope}
      ${after ? sql`and ${keyOf(sql, query)} < ${valueOf(sql, query, after)}` : sql``}
      ${before ? sql`and ${keyOf(sql, query)} > ${valueOf(sql, query, before)}` : sql``}
      order by ${order} limit ${page.limit}`,
    sql<{ total: number }[]>`
      select count(*) as total from (select ${scope} ${query.maxCounted ? sql`limit ${query.maxCounted}` : sql``}) as counted`,
  ]);
  const fitting = rows.slice(0, await countFittingRows(sql, query, rows));
  const shown = isUpward ? fitting.toReversed() : [...fitting];
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    ids: shown.map((row) => row.id),
    total: counted[0]?.total ?? 0,
    ...(first && last ? { startCursor: encodeCursor(first), endCursor: encodeCursor(last) } : {}),
  };
}

async function countFittingRows(sql: Sql, { table, bytes }: PageQuery, rows: readonly Cursor[]): Promise<number> {
  if (bytes === undefined) return rows.length;
  const keys = sql`${rows.map(({ id }) => id)}::text[] as ids`;
  return countFitting(sql, {
    keys,
    count: rows.length,
    bytes: sql`select ${bytes} from ${sql(table)} where id = ids[place + 1]`,
  });
}

/**
 * Number of rows of a page that fit into LIMITS.maxPageBytes, at least one. Measures one row after
 * the other and stops at the first that does not fit: measuring costs as much as showing. `keys`:
 * arrays of keys, by name; `bytes`: a query for the size of the row at `place + 1`.
 */
export async function countFitting(
  sql: Sql,
  { keys, count, bytes }: { keys: Fragment; count: number; bytes: Fragment },
): Promise<number> {
  const [row] = await sql<{ fitting: number }[]>`
    with recursive seen as (
      select 0 as place, 0::int8 as total
      union all
      select place + 1, total + coalesce((${bytes}), 0) from seen, (select ${keys}) as page
      where place < ${count}::int4 and total <= ${LIMITS.maxPageBytes}::int8
    )
    select count(*) filter (where place > 0 and (place = 1 or total <= ${LIMITS.maxPageBytes}::int8))::int4 as fitting from seen`;
  return row?.fitting ?? 0;
}

function ownedBy(sql: Sql, { table, accountId }: PageQuery) {
  if (accountId !== undefined) return sql`account_id = ${accountId}`;
  if (table === 'accounts' || table === 'audit_log') return sql`true`;
  throw new Error(`A list of ${table} is one account's`);
}

/** Puts rows that were read by id into the page's order; those deleted meanwhile are left out. */
export function inPageOrder<T extends { id: string }>(ids: readonly string[], rows: readonly T[]): T[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}

// Microseconds, as Postgres keeps them: at a Date's milliseconds, rows of one millisecond would be
// skipped or repeated.
interface Cursor {
  id: string;
  micros: number;
}

function keyOf(sql: Sql, query: PageQuery) {
  return query.order === 'created' ? sql`(created_at, id)` : sql`id`;
}

function valueOf(sql: Sql, query: PageQuery, { id, micros }: Cursor) {
  if (query.order === 'id') return sql`${id}`;
  return sql`(timestamptz 'epoch' + ${micros}::float8 * interval '1 microsecond', ${id}::text)`;
}

export function encodeCursor({ id, micros }: Cursor): string {
  return Buffer.from(`${micros}:${id}`).toString('base64url');
}

export function decodeCursor(field: 'after' | 'before', cursor: string | undefined): Cursor | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  const match = /^(\d{1,16}):(\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (match === null) throw notACursor(field);
  return { micros: Number(match[1]), id: String(match[2]) };
}

export function checkPageSize(size: number): void {
  const fault = findCountFault(size, 1, platformLimit('maxPageSize', size));
  throwFields(fault === undefined ? [] : [{ path: 'limit', ...fault }]);
}

export function notACursor(path: 'after' | 'before'): HeadwaterError {
  const message = 'is not a cursor of this list';
  return new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}
