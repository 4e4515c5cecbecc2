import { notifyEnvironmentChanged, type Sql, type Transaction } from '../db/index.ts';

export interface EnvironmentRow {
  name: string;
  description: string | null;
  created_ms: number;
  updated_ms: number;
}

const columns = (sql: Sql | Transaction) => sql`
  name, description, extract(epoch from created_at)::float8 * 1000 as created_ms,
  extract(epoch from updated_at)::float8 * 1000 as updated_ms`;

export interface EnvironmentPage {
  /** By name. */
  rows: EnvironmentRow[];
  total: number;
}

/** Variables after `after`, or the last ones before `before`. */
export async function listEnvironmentVariables(
  sql: Sql,
  accountId: string,
  { limit, after, before }: { limit: number; after?: string; before?: string },
): Promise<EnvironmentPage> {
  const isUpward = before !== undefined && after === undefined;
  const [rows, counted] = await Promise.all([
    sql<EnvironmentRow[]>`
      select ${columns(sql)} from environment_variables
      where account_id = ${accountId}
        ${after === undefined ? sql`` : sql`and name > ${after}`} ${before === undefined ? sql`` : sql`and name < ${before}`}
      order by name ${isUpward ? sql`desc` : sql`asc`} limit ${limit}`,
    sql<{ total: number }[]>`
      select count(*) as total from environment_variables where account_id = ${accountId}`,
  ]);
  return { rows: isUpward ? rows.toReversed() : [...rows], total: counted[0]?.total ?? 0 };
}

export async function readEnvironmentVariable(
  sql: Sql,
  accountId: string,
  name: string,
): Promise<EnvironmentRow | undefined> {
  const [row] = await sql<EnvironmentRow[]>`
    select ${columns(sql)} from environment_variables where account_id = ${accountId} and name = ${name}`;
  return row;
}

/**
 * The sealed values of the variables that exist, or their total size if it exceeds `maxBytes`. A
 * thousand variables may have ninety megabytes, which must not leave the database for nothing.
 */
export async function readEnvironmentValues(
  sql: Sql,
  accountId: string,
  names: readonly string[],
  maxBytes: number,
): Promise<{ kind: 'read'; values: Map<string, string> } | { kind: 'too-large'; bytes: number; count: number }> {
  const rows = await sql<{ name: string; value: string | null; bytes: number }[]>`
    select name, bytes::float8 as bytes, case when bytes <= ${maxBytes} then value end as value
    from (
      select name, value, sum(octet_length(value)) over () as bytes from environment_variables
      where account_id = ${accountId} and name = any(${[...names]}::text[])) named`;
  const values = new Map<string, string>();
  for (const { name, value, bytes } of rows) {
    if (value === null) return { kind: 'too-large', bytes, count: rows.length };
    values.set(name, value);
  }
  return { kind: 'read', values };
}

/** Those of `names` that are there. In a transaction they stay until its end. */
export async function lockEnvironmentVariables(
  tx: Sql | Transaction,
  accountId: string,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const rows = await tx<{ name: string }[]>`
    select name from environment_variables where account_id = ${accountId} and name = any(${[...names]}::text[])
    order by name for key share`;
  return new Set(rows.map(({ name }) => name));
}

export interface NewEnvironmentVariable {
  accountId: string;
  name: string;
  /** Absent: the description stays; null: it is removed. */
  description?: string | null;
  /** Sealed. */
  value: string;
}

/**
 * Makes a variable, or replaces its value. `full`: the account is at its limit and has `variables`
 * of them.
 */
export async function putEnvironmentVariable(
  sql: Sql,
  { accountId, name, description, value }: NewEnvironmentVariable,
  maxVariables: number,
): Promise<{ kind: 'put'; row: EnvironmentRow } | { kind: 'full'; variables: number }> {
  return sql.begin(async (tx) => {
    // Two that are made at the same time are counted one after the other.
    await tx`select id from accounts where id = ${accountId} for no key update`;
    const [known] = await tx<{ variables: number; has: boolean }[]>`
      select count(*) as variables, coalesce(bool_or(name = ${name}), false) as has
      from environment_variables where account_id = ${accountId}`;
    const { variables = 0, has = false } = known ?? {};
    if (!has && variables >= maxVariables) return { kind: 'full', variables };
    const [row] = await tx<EnvironmentRow[]>`
      insert into environment_variables as v (account_id, name, description, value)
      values (${accountId}, ${name}, ${description ?? null}, ${value})
      on conflict (account_id, name) do update set value = excluded.value, updated_at = now(),
        description = ${description === undefined ? tx`v.description` : tx`excluded.description`}
      returning ${columns(tx)}`;
    await notifyEnvironmentChanged(tx, accountId);
    return { kind: 'put', row: row as EnvironmentRow };
  });
}

/**
 * Deletes a variable unless the version that a workflow runs now names it: then `usedBy` has their
 * ids, some of them.
 */
export async function deleteEnvironmentVariable(
  sql: Sql,
  accountId: string,
  name: string,
): Promise<{ kind: 'deleted' } | { kind: 'absent' } | { kind: 'used'; usedBy: string[] }> {
  return sql.begin(async (tx) => {
    // A deploy that names the variable locks this row until its version exists.
    const found = await tx`
      select from environment_variables where account_id = ${accountId} and name = ${name} for update`;
    if (found.length === 0) return { kind: 'absent' };
    const used = await tx<{ id: string }[]>`
      select w.id from deployments d join emitters w on w.deployment_id = d.id and w.deleted_at is null
      where d.account_id = ${accountId} and d.steps @> ${JSON.stringify([{ env: [name] }])}::text::jsonb
      order by w.id limit 10`;
    if (used.length > 0) return { kind: 'used', usedBy: used.map(({ id }) => id) };
    await tx`delete from environment_variables where account_id = ${accountId} and name = ${name}`;
    await notifyEnvironmentChanged(tx, accountId);
    return { kind: 'deleted' };
  });
}
