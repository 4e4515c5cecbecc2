import type {
  AccountStats,
  NodeRecord,
  StatCounts,
  StatSeries,
  StatSpan,
  SubjectStats,
  WaitingStats,
} from '@headwater/engine';
import type {
  accountStatsSchema,
  nodeSchema,
  Shown,
  statSeriesSchema,
  subjectStatsSchema,
  waitingStatsSchema,
} from '@headwater/shared/contract';

export function presentSeries({ buckets, totals: sums, ...range }: StatSeries): Shown<typeof statSeriesSchema> {
  return {
    ...presentSpan(range),
    totals: presentCounts(sums),
    buckets: buckets.map(({ beganMs, ...rest }) => ({ at: beganMs, ...presentCounts(rest) })),
  };
}

export function presentSubjects(found: StatSpan & { subjects: SubjectStats[] }): Shown<typeof subjectStatsSchema> {
  const subjects = found.subjects.map((subject) => ({ ...subject, totals: presentCounts(subject.totals) }));
  return { ...presentSpan(found), subjects };
}

function presentSpan({ sinceMs, untilMs, stepSeconds }: StatSpan) {
  return { since: sinceMs, until: untilMs, step: stepSeconds };
}

function presentCounts(given: StatCounts) {
  const { received, emitted, runsOk, runsFailed, delivered, failedAttempts, exhausted } = given;
  return {
    received,
    emitted,
    runs_ok: runsOk,
    runs_failed: runsFailed,
    delivered,
    failed_attempts: failedAttempts,
    exhausted,
  };
}

export function presentWaiting({ run, delivery }: WaitingStats): Shown<typeof waitingStatsSchema> {
  return {
    run: run === undefined ? null : { emitter_id: run.id, name: run.name, since: run.sinceMs },
    delivery: delivery === undefined ? null : { webhook_id: delivery.id, name: delivery.name, since: delivery.sinceMs },
  };
}

export function presentAccountStats(found: StatSpan & { accounts: AccountStats[] }): Shown<typeof accountStatsSchema> {
  const accounts = found.accounts.map(({ id, name, totals: sums, waitingRuns, waitingDeliveries }) => ({
    id,
    name,
    totals: presentCounts(sums),
    waiting_runs: waitingRuns,
    waiting_deliveries: waitingDeliveries,
  }));
  return { ...presentSpan(found), accounts };
}

export function presentNode({ id, role, startedAtMs, seenAtMs }: NodeRecord): Shown<typeof nodeSchema> {
  return { id, role, started_at: startedAtMs, seen_at: seenAtMs };
}
