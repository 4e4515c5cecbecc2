import { LIMITS, notFound, platformLimit } from '@headwater/shared';
import {
  type Operator,
  type StatCounts,
  type StatRange,
  type Stats,
  type StatSeries,
  type StatSpan,
  type SubjectStats,
  throwFields,
} from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import {
  isSubject,
  readAccountStats,
  readActiveSubjects,
  readNodes,
  readOldestWaiting,
  readStatBuckets,
  readSubjectBuckets,
  type StatQuery,
  type SubjectBuckets,
  type SubjectName,
} from './stats.sql.ts';
import { readBacklogs } from '../../runs/index.ts';
import { noStats } from '../../events/index.ts';

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** The longest range that is shown by the step, unless one is asked for. */
const STEPS: readonly (readonly [stepSeconds: number, maxSeconds: number])[] = [
  [60, 2 * HOUR_SECONDS],
  [300, LIMITS.minuteStatsKeptMs / 1000],
  [HOUR_SECONDS, 8 * DAY_SECONDS],
  [DAY_SECONDS, Number.POSITIVE_INFINITY],
];

/**
 * Without the step of 300 seconds: many subjects over ranges of hours would give too many buckets.
 */
const SUBJECT_STEPS = STEPS.filter(([step]) => step !== 300);

/** Counters by time as the API sees them. */
export function createStats(sql: Sql, nowMs: () => number): Stats {
  return {
    waiting: ({ accountId }) => readOldestWaiting(sql, accountId),
    async series({ accountId }, range, subject) {
      const span = spanOf(range, nowMs());
      if (subject !== undefined) {
        const { kind, id } = subject;
        const isThere = !id.includes('\0') && (await isSubject(sql, accountId, kind, id));
        if (!isThere) throw notFound(kind === 'webhook' ? 'webhook' : 'source or workflow', id);
      }
      const rows = await readStatBuckets(sql, subject?.id ?? accountId, queryOf(accountId, span));
      return seriesOf(span, rows);
    },
    async subjects({ accountId }, range, { kind, limit }) {
      const span = spanOf(range, nowMs(), SUBJECT_STEPS);
      const query = queryOf(accountId, span);
      const found = await readActiveSubjects(sql, kind, roughly(query), candidatesFor(limit));
      const names = new Map(found.map((subject) => [subject.id, subject]));
      const ids = [...names.keys()];
      const likely = ids.slice(0, limit + SPARE);
      let rows = await readSubjectBuckets(sql, kind, likely, query, limit);
      if (rows.length < limit && ids.length > likely.length) {
        rows = await readSubjectBuckets(sql, kind, ids, query, limit);
      }
      const subjects = rows.flatMap((row) => {
        const name = names.get(row.subjectId);
        return name === undefined ? [] : [subjectOf(span, name, row)];
      });
      return { ...span, subjects };
    },
  };
}

/** Read with those that are shown: within the range the order may be another. */
const SPARE = 20;

/**
 * Some more than are shown: those that were looked for in whole hours or days may have done nothing
 * in the range. Only then are the others read as well.
 */
const candidatesFor = (limit: number) => 2 * limit + SPARE;

/**
 * Long rows are few: an hour has 60 times as many of a minute. The range gets longer by less than
 * two of them.
 */
function roughly(query: StatQuery): StatQuery {
  const isLong = query.untilMs - query.sinceMs > 2 * DAY_SECONDS * 1000;
  const rowSeconds = Math.max(query.rowSeconds, isLong ? DAY_SECONDS : HOUR_SECONDS);
  const sinceMs = query.sinceMs - (query.sinceMs % (rowSeconds * 1000));
  return { ...query, rowSeconds, sinceMs };
}

function subjectOf(span: StatSpan, name: SubjectName, row: SubjectBuckets): SubjectStats {
  const stepMs = span.stepSeconds * 1000;
  const placed = (values: readonly number[]) => {
    const all = Array.from({ length: (span.untilMs - span.sinceMs) / stepMs }, () => 0);
    for (const [at, value] of values.entries()) all[((row.beganMs[at] ?? 0) - span.sinceMs) / stepMs] = value;
    return all;
  };
  return { ...name, totals: row.totals, activity: placed(row.activity), failures: placed(row.failures) };
}

/** Counts of all accounts, for the operator. */
export function createOperator(sql: Sql, nowMs: () => number): Operator {
  return {
    nodes: () => readNodes(sql),
    async accounts(range, limit) {
      const span = spanOf(range, nowMs());
      const [found, { ofAccount }] = await Promise.all([
        readAccountStats(sql, { ...span, rowSeconds: rowSecondsOf(span) }, limit),
        readBacklogs(sql),
      ]);
      const accounts = found.map((account) => {
        const { invocations = 0, deliveries = 0 } = ofAccount.get(account.id) ?? {};
        return { ...account, waitingRuns: invocations, waitingDeliveries: deliveries };
      });
      return { ...span, accounts };
    },
  };
}

/**
 * In whole buckets, which begin at multiples of the step since 1970, in UTC. Throws
 * INVALID_REQUEST.
 */
function spanOf(range: StatRange, nowMs: number, steps = STEPS): StatSpan {
  const { untilMs = nowMs } = range;
  const { sinceMs = untilMs - HOUR_SECONDS * 1000 } = range;
  if (sinceMs >= untilMs) throwFields([{ path: 'since', message: 'must be before until' }]);
  const seconds = (untilMs - sinceMs) / 1000;
  const isOld = sinceMs < nowMs - LIMITS.minuteStatsKeptMs;
  const fitting = steps.find(([step, max]) => seconds <= max && (step >= HOUR_SECONDS || !isOld));
  const stepSeconds = range.stepSeconds ?? fitting?.[0] ?? DAY_SECONDS;
  requireStep(stepSeconds);
  if (isOld && stepSeconds % HOUR_SECONDS !== 0) {
    const message = `must be whole hours (3600) for times more than ${LIMITS.minuteStatsKeptMs / (HOUR_SECONDS * 1000)} hours ago`;
    throwFields([{ path: 'step', message }]);
  }
  const stepMs = stepSeconds * 1000;
  const span = { sinceMs: Math.floor(sinceMs / stepMs) * stepMs, untilMs: Math.ceil(untilMs / stepMs) * stepMs };
  const limit = platformLimit('maxStatBuckets', (span.untilMs - span.sinceMs) / stepMs);
  if (limit.used > limit.value) {
    const message = `makes ${limit.used} buckets of this range, and may make ${limit.value}; take a larger one`;
    throwFields([{ path: 'step', message, limit }]);
  }
  return { ...span, stepSeconds };
}

function requireStep(stepSeconds: number): void {
  const isWhole = stepSeconds >= 60 && stepSeconds % 60 === 0 && DAY_SECONDS % stepSeconds === 0;
  if (isWhole) return;
  throwFields([{ path: 'step', message: 'must be whole minutes in seconds that divide a day: 60, 300, 3600, 86400' }]);
}

function queryOf(accountId: string, span: StatSpan): StatQuery {
  return { accountId, ...span, rowSeconds: rowSecondsOf(span) };
}

function rowSecondsOf({ stepSeconds }: StatSpan): number {
  if (stepSeconds % DAY_SECONDS === 0) return DAY_SECONDS;
  return stepSeconds % HOUR_SECONDS === 0 ? HOUR_SECONDS : 60;
}

function seriesOf(span: StatSpan, rows: readonly (StatCounts & { beganMs: number })[]): StatSeries {
  const stepMs = span.stepSeconds * 1000;
  const totals = noStats();
  const buckets = Array.from({ length: (span.untilMs - span.sinceMs) / stepMs }, (_, i) => ({
    beganMs: span.sinceMs + i * stepMs,
    ...noStats(),
  }));
  for (const row of rows) {
    const bucket = buckets[(row.beganMs - span.sinceMs) / stepMs];
    for (const counter of Object.keys(totals) as (keyof StatCounts)[]) {
      totals[counter] += row[counter];
      if (bucket !== undefined) bucket[counter] = row[counter];
    }
  }
  return { ...span, totals, buckets };
}
