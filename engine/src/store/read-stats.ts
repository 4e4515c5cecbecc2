import type { StatCounts, SubjectStats } from '../contract-stats.ts';
import type { Sql } from './database.ts';

export interface StatQuery {
  accountId: string;
  /** Of the rows that are read: 60 or 3600. */
  rowSeconds: number;
  /** Of the buckets that they are added up in. */
  stepSeconds: number;
  sinceMs: number;
  untilMs: number;
}

export type StatBucketRow = StatCounts & { beganMs: number };

export function statSums(sql: Sql) {
  return sql`sum(received)::int8 as received, sum(emitted)::int8 as emitted, sum(runs_ok)::int8 as "runsOk",
    sum(runs_failed)::int8 as "runsFailed", sum(delivered)::int8 as delivered,
    sum(failed_attempts)::int8 as "failedAttempts", sum(exhausted)::int8 as exhausted`;
}

function bucketOf(sql: Sql, stepSeconds: number) {
  return sql`began_ms - began_ms % ${stepSeconds * 1000}::int8`;
}

/** The buckets of one subject in which something happened, in their order. */
export async function readStatBuckets(sql: Sql, subjectId: string, query: StatQuery): Promise<StatBucketRow[]> {
  const { accountId, rowSeconds, stepSeconds, sinceMs, untilMs } = query;
  return sql<StatBucketRow[]>`
    select ${bucketOf(sql, stepSeconds)} as "beganMs", ${statSums(sql)} from stats
    where account_id = ${accountId} and subject_id = ${subjectId} and step_seconds = ${rowSeconds}
      and began_ms >= ${sinceMs} and began_ms < ${untilMs}
    group by 1 order by 1`;
}

export type SubjectName = Pick<SubjectStats, 'id' | 'type' | 'name'>;

/**
 * Those that did something: the most failures first, then the most active. Deleted ones are left
 * out.
 */
export async function readActiveSubjects(
  sql: Sql,
  kind: 'emitter' | 'webhook',
  { accountId, rowSeconds, sinceMs, untilMs }: StatQuery,
  limit: number,
): Promise<SubjectName[]> {
  const isWebhook = kind === 'webhook';
  const named = isWebhook
    ? sql`select id, 'webhook' as type, coalesce(name, url) as name, account_id from webhooks`
    : sql`select id, kind as type, name, account_id from emitters where deleted_at is null`;
  return sql<SubjectName[]>`
    with sums as (
      select subject_id, sum(${isWebhook ? sql`failed_attempts` : sql`runs_failed`}) as failures,
        sum(received + delivered) as active
      from stats
      where account_id = ${accountId} and step_seconds = ${rowSeconds} and began_ms >= ${sinceMs} and began_ms < ${untilMs}
      group by subject_id
    )
    select n.id, n.type, n.name from sums join (${named}) as n on n.id = sums.subject_id
    where n.account_id = ${accountId}
    order by sums.failures desc, sums.active desc, n.id limit ${limit}`;
}

/** The same of several subjects. */
export async function readBucketsOf(
  sql: Sql,
  subjectIds: readonly string[],
  { accountId, rowSeconds, stepSeconds, sinceMs, untilMs }: StatQuery,
): Promise<(StatBucketRow & { subjectId: string })[]> {
  return sql<(StatBucketRow & { subjectId: string })[]>`
    select subject_id as "subjectId", ${bucketOf(sql, stepSeconds)} as "beganMs", ${statSums(sql)} from stats
    where account_id = ${accountId} and subject_id = any(${subjectIds}::text[]) and step_seconds = ${rowSeconds}
      and began_ms >= ${sinceMs} and began_ms < ${untilMs}
    group by 1, 2`;
}

/** Whether the account has, or had, such a one. */
export async function isSubject(
  sql: Sql,
  accountId: string,
  kind: 'emitter' | 'webhook',
  id: string,
): Promise<boolean> {
  const table = sql(kind === 'emitter' ? 'emitters' : 'webhooks');
  const rows = await sql`select from ${table} where id = ${id} and account_id = ${accountId}`;
  return rows.length > 0;
}
