import type {
  AccountStats,
  CountedUse,
  NodeRecord,
  StatCounter,
  StatCounts,
  SubjectStats,
  WaitingStats,
} from '../../contract/index.ts';
import { addCounted, type Sql, type Transaction } from '../../db/index.ts';
import type { StatPart } from '../../events/index.ts';

/**
 * Adds what accounts used to their days, as addStats does, and in its transaction: what is stored
 * of one is stored of both.
 */
async function addUsage(tx: Transaction, parts: readonly StatPart[]): Promise<void> {
  const ofAccounts = parts.filter(({ accountId, subjectId }) => accountId === subjectId);
  const used = (counter: CountedUse) => ofAccounts.map(({ use }) => use?.[counter] ?? 0);
  await tx`
    insert into usage_days as u (account_id, day, requests, runs, run_ms, cpu_ms, events, deliveries, attempts, bytes_in, bytes_out)
    select x.account_id, (to_timestamp(x.began_ms / 1000) at time zone 'utc')::date, sum(requests), sum(runs), sum(run_ms),
      sum(cpu_ms), sum(events), sum(deliveries), sum(attempts), sum(bytes_in), sum(bytes_out)
    from unnest(
      ${ofAccounts.map(({ accountId }) => accountId)}::text[], ${ofAccounts.map(({ beganMs }) => beganMs)}::int8[],
      ${used('requests')}::int8[], ${ofAccounts.map(({ counts }) => counts.runsOk + counts.runsFailed)}::int8[],
      ${used('runMs')}::float8[], ${used('cpuMs')}::float8[], ${ofAccounts.map(({ counts }) => counts.emitted)}::int8[],
      ${ofAccounts.map(({ counts }) => counts.delivered)}::int8[], ${used('attempts')}::int8[],
      ${used('bytesIn')}::int8[], ${used('bytesOut')}::int8[]
    ) as x(account_id, began_ms, requests, runs, run_ms, cpu_ms, events, deliveries, attempts, bytes_in, bytes_out)
      join accounts a on a.id = x.account_id
    group by 1, 2 order by 1, 2
    on conflict (account_id, day) do update set
      requests = u.requests + excluded.requests, runs = u.runs + excluded.runs, run_ms = u.run_ms + excluded.run_ms,
      cpu_ms = u.cpu_ms + excluded.cpu_ms, events = u.events + excluded.events,
      deliveries = u.deliveries + excluded.deliveries, attempts = u.attempts + excluded.attempts,
      bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out`;
}

/** Each count is kept by minute, and by hour and day for ranges of days and weeks. */
const STAT_STEPS_SECONDS = [60, 3600, 86_400] as const;

/**
 * Adds what a node has counted. Rows are locked in one order everywhere. Accounts that are gone are
 * passed over.
 */
export function addStats(sql: Sql, counted: readonly StatPart[]): Promise<void> {
  // Parts of accounts that only read, or only ran code, have no counters by time.
  const parts = counted.filter((part) => Object.values(part.counts).some((count) => count > 0));
  const counts = (counter: StatCounter) => parts.map((part) => part.counts[counter]);
  return addCounted(sql, async (tx) => {
    await addUsage(tx, counted);
    if (parts.length === 0) return;
    await tx`
      insert into stats as s (account_id, subject_id, step_seconds, began_ms,
        received, emitted, runs_ok, runs_failed, delivered, failed_attempts, exhausted)
      select x.account_id, x.subject_id, step.seconds, x.began_ms - x.began_ms % (step.seconds * 1000),
        sum(received), sum(emitted), sum(runs_ok), sum(runs_failed), sum(delivered), sum(failed_attempts), sum(exhausted)
      from unnest(
        ${parts.map((part) => part.accountId)}::text[], ${parts.map((part) => part.subjectId)}::text[],
        ${parts.map((part) => part.beganMs)}::int8[], ${counts('received')}::int8[], ${counts('emitted')}::int8[],
        ${counts('runsOk')}::int8[], ${counts('runsFailed')}::int8[], ${counts('delivered')}::int8[],
        ${counts('failedAttempts')}::int8[], ${counts('exhausted')}::int8[]
      ) as x(account_id, subject_id, began_ms, received, emitted, runs_ok, runs_failed, delivered, failed_attempts, exhausted)
        join accounts a on a.id = x.account_id
        cross join unnest(${[...STAT_STEPS_SECONDS]}::int4[]) as step(seconds)
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (account_id, subject_id, step_seconds, began_ms) do update set
        received = s.received + excluded.received, emitted = s.emitted + excluded.emitted,
        runs_ok = s.runs_ok + excluded.runs_ok, runs_failed = s.runs_failed + excluded.runs_failed,
        delivered = s.delivered + excluded.delivered, failed_attempts = s.failed_attempts + excluded.failed_attempts,
        exhausted = s.exhausted + excluded.exhausted`;
  });
}

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

function statSums(sql: Sql) {
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

/** For the operator: what each account did in a range, by its totals, the most active first. */
export async function readAccountStats(
  sql: Sql,
  { rowSeconds, sinceMs, untilMs }: Omit<StatQuery, 'accountId' | 'stepSeconds'>,
  limit: number,
): Promise<Omit<AccountStats, 'waitingRuns' | 'waitingDeliveries'>[]> {
  const rows = await sql<(AccountStats['totals'] & { id: string; name: string })[]>`
    select a.id, a.name, sums.* from accounts a cross join lateral (
      select ${statSums(sql)} from stats
      where account_id = a.id and subject_id = a.id and step_seconds = ${rowSeconds}
        and began_ms >= ${sinceMs} and began_ms < ${untilMs}
      having count(*) > 0
    ) as sums
    order by received + delivered + "failedAttempts" desc, a.id limit ${limit}`;
  return rows.map(({ id, name, ...totals }) => ({ id, name, totals }));
}

/** Registered nodes. A dead node stays until another has taken over its rows. */
export async function readNodes(sql: Sql): Promise<NodeRecord[]> {
  return sql<NodeRecord[]>`
    select id, role, (extract(epoch from started_at) * 1000)::int8 as "startedAtMs",
      (extract(epoch from seen_at) * 1000)::int8 as "seenAtMs"
    from nodes order by started_at, id`;
}

/**
 * The oldest run and the oldest due delivery of the account that no node has. Looks at the first
 * row of each source and webhook by its index, however much waits behind it.
 */
export async function readOldestWaiting(sql: Sql, accountId: string): Promise<WaitingStats> {
  const [runs, deliveries] = await Promise.all([
    sql<{ id: string; name: string; sinceMs: number }[]>`
      select e.id, e.name, (extract(epoch from first.created_at) * 1000)::int8 as "sinceMs"
      from emitters e cross join lateral (
        select created_at from invocations i where i.leased_by is null and i.source_id = e.id order by i.id limit 1
      ) as first
      where e.account_id = ${accountId} and e.deleted_at is null and e.active
      order by first.created_at limit 1`,
    sql<{ id: string; name: string; sinceMs: number }[]>`
      select w.id, coalesce(w.name, w.url) as name, (extract(epoch from first.next_attempt_at) * 1000)::int8 as "sinceMs"
      from webhooks w cross join lateral (
        select next_attempt_at from deliveries d
        where d.status = 'pending' and d.leased_by is null and d.webhook_id = w.id and d.next_attempt_at <= now()
        -- in the order of the index, or all that waits would be sorted
        order by d.leased_by, d.next_attempt_at limit 1
      ) as first
      where w.account_id = ${accountId} and w.active
      order by first.next_attempt_at limit 1`,
  ]);
  return { run: runs[0], delivery: deliveries[0] };
}
