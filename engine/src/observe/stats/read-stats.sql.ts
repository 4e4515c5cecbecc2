import type { StatCounts, SubjectStats } from '../../contract/stats.ts';
import type { Sql } from '../../db/database.ts';

export interface StatQuery {
  accountId: string;
  /** Seconds that one row covers: 60 or 3600. */
  rowSeconds: number;
  /** Seconds of the buckets that rows are summed into. */
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

function statColumns(sql: Sql) {
  return sql`received, emitted, runs_ok as "runsOk", runs_failed as "runsFailed", delivered,
    failed_attempts as "failedAttempts", exhausted`;
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

export interface SubjectBuckets {
  subjectId: string;
  totals: StatCounts;
  /** Those in which something happened; `activity` and `failures` have a number for each. */
  beganMs: number[];
  activity: number[];
  failures: number[];
}

/**
 * The first `limit` subjects: the most failures first, then the most active. A row a
 * subject: a row for each bucket of each would take longer to read than to add up.
 */
export async function readSubjectBuckets(
  sql: Sql,
  kind: 'emitter' | 'webhook',
  subjectIds: readonly string[],
  { accountId, rowSeconds, stepSeconds, sinceMs, untilMs }: StatQuery,
  limit: number,
): Promise<SubjectBuckets[]> {
  const isWebhook = kind === 'webhook';
  /** Sums of one row each would cost more than all else. */
  const isRow = rowSeconds === stepSeconds;
  const failingFirst = isWebhook
    ? sql`"failedAttempts" desc, delivered desc, "subjectId"`
    : sql`"runsFailed" desc, received desc, "subjectId"`;
  // JSON is written for those that are shown alone: that costs more than to add up.
  const rows = await sql<(StatCounts & Omit<SubjectBuckets, 'totals'>)[]>`
    select "subjectId", received, emitted, "runsOk", "runsFailed", delivered, "failedAttempts", exhausted,
      to_json("beganMs") as "beganMs", to_json(activity) as activity, to_json(failures) as failures
    from (
      select * from (
        select "subjectId", sum(received)::int8 as received, sum(emitted)::int8 as emitted,
          sum("runsOk")::int8 as "runsOk", sum("runsFailed")::int8 as "runsFailed", sum(delivered)::int8 as delivered,
          sum("failedAttempts")::int8 as "failedAttempts", sum(exhausted)::int8 as exhausted,
          array_agg("beganMs") as "beganMs", array_agg(${isWebhook ? sql`delivered` : sql`received`}) as activity,
          array_agg(${isWebhook ? sql`"failedAttempts"` : sql`"runsFailed"`}) as failures
        from (
          select subject_id as "subjectId", ${bucketOf(sql, stepSeconds)} as "beganMs",
            ${isRow ? statColumns(sql) : statSums(sql)}
          from stats
          where account_id = ${accountId} and subject_id = any(${subjectIds}::text[]) and step_seconds = ${rowSeconds}
            and began_ms >= ${sinceMs} and began_ms < ${untilMs}
          ${isRow ? sql`` : sql`group by 1, 2`}
        ) as buckets
        group by "subjectId"
      ) as subjects
      order by ${failingFirst} limit ${limit}
    ) as first
    order by ${failingFirst}`;
  return rows.map(({ subjectId, beganMs, activity, failures, ...totals }) => ({
    subjectId,
    totals,
    beganMs,
    activity,
    failures,
  }));
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
