import type { Sql } from '../../db/database.ts';
import type { StatCount } from '../../events/stat-meter.ts';
import type { EmittedCounts, RunCommit } from './commit-plan.ts';
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

/** The end of a run that emitted, set and logged nothing, and did not fail: its row goes. */
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

/**
 * One statement for all of them: what a run did not touch is neither locked nor read. Each row ends
 * once, and only for the node that holds it.
 */
export async function endQuietRuns(
  sql: Sql,
  runs: readonly RunCommit[],
  stats: StatCount | undefined,
): Promise<QuietEnd[]> {
  const leases = runs.flatMap(({ invocation }) => invocation ?? []);
  // In the order of their ids, as in every transaction that ends some.
  const rows = await sql<{ id: string; claim: number }[]>`
    with ours as materialized (
      select i.id, i.claim from invocations i
      join unnest(
        ${leases.map(({ id }) => id)}::text[],
        ${leases.map(({ leasedBy }) => leasedBy)}::text[],
        ${leases.map(({ claim }) => claim)}::int4[]) as mine(id, node, claim)
      on i.id = mine.id and i.leased_by = mine.node and i.claim = mine.claim order by i.id for update of i
    )
    delete from invocations i using ours where i.id = ours.id returning i.id, ours.claim`;
  const ended = new Map(rows.map(({ id, claim }) => [id, claim]));
  return runs.map((run) => {
    const { id = '', claim } = run.invocation ?? {};
    if (ended.get(id) !== claim) return { committed: false, events: 0, deliveries: [], invocations: [] };
    ended.delete(id);
    return quietEnd(run, stats);
  });
}
