import { startLanes, startRetention } from '../cluster/index.ts';
import type { EngineOptions } from '../contract/index.ts';
import { type Stop, stopInReverse } from '../db/index.ts';
import type { Outbox } from './assemble-outbox.ts';
import type { Runs } from './assemble-runs.ts';
import type { EngineParts, Ground } from './ground.ts';
import { retentionOf } from './parts-from-options.ts';
import type { AccountCounts } from './start-account-counts.ts';

interface JobNeeds {
  ground: Ground;
  counts: AccountCounts;
  outbox: Outbox;
  runs: Runs;
}

export interface Jobs {
  /** Idempotent. */
  stop: Stop;
}

/** Starts background work. A node with the role `api` has none. */
export async function startJobs(
  options: EngineOptions,
  { databaseUrl, gaveUp }: Pick<EngineParts, 'databaseUrl' | 'gaveUp'>,
  { ground, counts, outbox, runs }: JobNeeds,
): Promise<Jobs> {
  if (options.role === 'api') return { stop: async () => undefined };
  const { sql, node, activeTenants, limits, log } = ground;
  const { backlogs, stats, history } = counts;
  const { dispatcher, turns } = runs;
  const lanes = await startLanes({
    databaseUrl,
    gaveUp,
    sql,
    node,
    dispatcher,
    backlogs,
    stats,
    history,
    turns,
    deliverer: outbox.deliverer,
    sends: outbox.sendRunner,
    activeTenants,
    limits,
    log,
  });
  const stopRetention = startRetention(retentionOf(options, sql));
  let stopping: Promise<void> | undefined;
  return {
    stop: () => (stopping ??= stopInReverse({ retention: async () => stopRetention(), lanes: lanes.stop }, log)),
  };
}
