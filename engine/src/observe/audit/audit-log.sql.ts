import type { AuditChoice, AuditEntry } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';

/** Stores entries. A made one replaces the begun one of its id, and keeps its time. */
export async function writeAuditEntries(sql: Sql, entries: readonly Omit<AuditEntry, 'at'>[]): Promise<void> {
  const text = (value: Record<string, unknown> | undefined) => (value === undefined ? null : JSON.stringify(value));
  await sql`
    insert into audit_log as l
      (id, account_id, actor_id, actor_name, address, action, thing, before, after, request_id, outcome)
    select * from unnest(
      ${entries.map(({ id }) => id)}::text[], ${entries.map(({ accountId }) => accountId ?? '')}::text[],
      ${entries.map(({ actorId }) => actorId)}::text[], ${entries.map(({ actorName }) => actorName)}::text[],
      ${entries.map(({ address }) => address ?? null)}::text[], ${entries.map(({ action }) => action)}::text[],
      ${entries.map(({ thing }) => thing)}::text[], ${entries.map(({ before }) => text(before))}::text[],
      ${entries.map(({ after }) => text(after))}::text[], ${entries.map(({ requestId }) => requestId)}::text[],
      ${entries.map(({ outcome }) => outcome)}::text[]
    )
    on conflict (id) do update set
      account_id = excluded.account_id, actor_id = excluded.actor_id, actor_name = excluded.actor_name,
      thing = excluded.thing, before = excluded.before, after = excluded.after, outcome = excluded.outcome
    where l.outcome = 'unknown'`;
}

/** Deletes the begun entries of changes that were refused. */
export async function deleteBegunEntries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from audit_log where id = any(${[...ids]}::text[]) and outcome = 'unknown'`;
}

export function auditWhere(sql: Sql, { since, until, actor, action, thing }: AuditChoice) {
  return sql`
    ${since === undefined ? sql`` : sql`and at >= ${since.toISOString()}::timestamptz`}
    ${until === undefined ? sql`` : sql`and at < ${until.toISOString()}::timestamptz`}
    ${actor === undefined ? sql`` : sql`and (actor_id = ${actor} or actor_name = ${actor})`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}
    ${thing === undefined ? sql`` : sql`and thing = ${thing}`}`;
}

interface Row {
  id: string;
  account_id: string;
  at_ms: number;
  actor_id: string;
  actor_name: string;
  address: string | null;
  action: string;
  thing: string;
  before: string | null;
  after: string | null;
  request_id: string;
  outcome: 'made' | 'unknown';
}

/** Those of `ids` that are the account's, in no order; undefined: of all. */
export async function readAuditEntries(
  sql: Sql,
  accountId: string | undefined,
  ids: readonly string[],
): Promise<AuditEntry[]> {
  const rows = await sql<Row[]>`
    select id, account_id, extract(epoch from at)::float8 * 1000 as at_ms, actor_id, actor_name, address, action, thing,
      before, after, request_id, outcome
    from audit_log where id = any(${[...ids]}::text[])
      ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}`;
  return rows.map((row) => ({
    id: row.id,
    ...(row.account_id !== '' && { accountId: row.account_id }),
    at: new Date(row.at_ms),
    actorId: row.actor_id,
    actorName: row.actor_name,
    ...(row.address !== null && { address: row.address }),
    action: row.action,
    thing: row.thing,
    ...(row.before !== null && { before: JSON.parse(row.before) as Record<string, unknown> }),
    ...(row.after !== null && { after: JSON.parse(row.after) as Record<string, unknown> }),
    requestId: row.request_id,
    outcome: row.outcome,
  }));
}

/**
 * Deletes entries older than their account's retention, at most `limit`. Returns the number
 * deleted.
 */
export async function expireAudit(sql: Sql, defaultDays: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from audit_log where ctid = any(array(
      select l.ctid from audit_log l left join accounts a on a.id = l.account_id
      where l.at < now() - interval '1 day'
        and l.at < now() - make_interval(days => coalesce((a.limits ->> 'auditRetentionDays')::int4, ${defaultDays}::int4))
      order by l.at limit ${limit} for update of l skip locked
    ))`;
  return rows.count;
}
