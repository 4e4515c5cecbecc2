import type { Sql } from '../../db/index.ts';
import { NO_LINES, type StatCount } from '../../events/index.ts';
import { type HistoryCount, historyRowBytes } from '../../accounts/index.ts';
import type { EmittedCounts, RunCommit, RunRow } from './commit-plan.ts';
import { bareRecord } from './insert-run-records.sql.ts';
import { isEndOfRun } from './count-commit.ts';

/** See CommittedRun. */
interface QuietEnd {
  /** False: the lease of the run was lost. */
  committed: boolean;
  events: number;
  counts?: EmittedCounts;
  deliveries: never[];
  invocations: never[];
}

const NO_EVENTS = { emitted: 0, deduped: 0 };

/** The end of a run that emitted, set and logged nothing, and did not fail. */
export function endsQuietly(run: RunCommit): boolean {
  const { invocation, final, emits, dbWrites, record, earlier, abandoned, execution, change, sends = [] } = run;
  if (!final || invocation === undefined || record !== undefined || earlier !== undefined) return false;
  if (abandoned !== undefined || execution !== undefined || change !== undefined || sends.length > 0) return false;
  return emits.length === 0 && dbWrites.size === 0;
}

/** Counts the run. */
export function quietEnd(run: RunCommit, stats: StatCount | undefined): QuietEnd {
  if (isEndOfRun(run)) stats?.add(run.accountId, [run.sourceId], 'runsOk', 1);
  return { committed: true, events: 0, counts: NO_EVENTS, deliveries: [], invocations: [] };
}

export interface QuietEndOptions {
  stats?: StatCount | undefined;
  history?: HistoryCount | undefined;
  /** Set: throws at once, as wasHeldUp, where another transaction holds a row. Default: waits. */
  maxLockMs?: number | undefined;
}

/**
 * One statement for all of them: what a run did not touch is neither locked nor read. Each row ends
 * once, only for the node that holds it, and leaves the record by which the run is found.
 */
export async function endQuietRuns(
  sql: Sql,
  runs: readonly RunCommit[],
  { stats, history, maxLockMs }: QuietEndOptions,
): Promise<QuietEnd[]> {
  const leases = runs.flatMap(({ invocation }) => invocation ?? []);
  const records = recordsOfEnds(runs);
  // In the order of their ids, as in every transaction that ends some.
  const rows = await sql<{ id: string; claim: number }[]>`
    with ours as materialized (
      select i.id, i.claim from invocations i
      join unnest(
        ${leases.map(({ id }) => id)}::text[],
        ${leases.map(({ leasedBy }) => leasedBy)}::text[],
        ${leases.map(({ claim }) => claim)}::int4[]) as mine(id, node, claim)
      on i.id = mine.id and i.leased_by = mine.node and i.claim = mine.claim order by i.id for update of i ${maxLockMs === undefined ? sql`` : sql`nowait`}
    ), ended as (
      delete from invocations i using ours where i.id = ours.id returning i.id, ours.claim
    ), recorded as (
      insert into runs (id, account_id, source_id, kind, caused_by, status, logs, live_lines, started_at, ended_at,
        emitted, deduped)
      select id, r.account_id, r.source_id, r.kind, r.caused_by, 'ok', ${NO_LINES}, 0,
        to_timestamp(r.started / 1000.0), to_timestamp(r.ended / 1000.0), 0, 0
      from unnest(
        ${records.map(({ record }) => record.id)}::text[],
        ${records.map(({ run }) => run.invocation?.claim ?? 0)}::int4[],
        ${records.map(({ run }) => run.accountId)}::text[],
        ${records.map(({ run }) => run.sourceId)}::text[],
        ${records.map(({ record }) => record.kind)}::text[],
        ${records.map(({ run }) => run.invocation?.cause?.event ?? null)}::text[],
        ${records.map(({ record }) => record.startedAtMs)}::float8[],
        ${records.map(({ record }) => record.endedAtMs)}::float8[]
      ) as r(id, claim, account_id, source_id, kind, caused_by, started, ended) join ended using (id, claim)
    )
    select id, claim from ended`;
  const isRecorded = new Set(records.map(({ run }) => run));
  const ended = new Map(rows.map(({ id, claim }) => [id, claim]));
  return runs.map((run) => {
    const { id = '', claim } = run.invocation ?? {};
    if (ended.get(id) !== claim) return { committed: false, events: 0, deliveries: [], invocations: [] };
    ended.delete(id);
    if (isRecorded.has(run)) history?.add(run.accountId, historyRowBytes(NO_LINES));
    return quietEnd(run, stats);
  });
}

/** One for each claim. */
function recordsOfEnds(runs: readonly RunCommit[]): { run: RunCommit; record: RunRow }[] {
  const byClaim = new Map<string, { run: RunCommit; record: RunRow }>();
  for (const run of runs) {
    const record = bareRecord(run, true);
    const key = `${record?.id} ${run.invocation?.claim}`;
    if (record !== undefined && !byClaim.has(key)) byClaim.set(key, { run, record });
  }
  return [...byClaim.values()];
}
