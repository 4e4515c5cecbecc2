import type { Sandbox } from '@headwater/sandbox-runtime';
import { LIMITS, type ActiveTenants } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { AuthCache } from '../connections/auth-cache.ts';
import { createDataStoreCalls } from '../data-stores/run-calls.ts';
import type { Deliverer } from '../outbox/deliveries/deliverer.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { RunCommit } from '../runs/commit/commit-plan.ts';
import type { Log } from '../contract/log.ts';
import type { Watchdog } from '../db/watchdog.ts';
import type { EngineMetrics } from '../observe/metrics.ts';
import type { NodeLease } from '../cluster/node-lease.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { StatCount } from '../events/stat-meter.ts';
import type { PropOpener } from '../props/run-props.ts';
import type { Watches } from '../events/watches.ts';
import type { Sql } from '../db/database.ts';
import { assembleExecutions, type ExecutionParts } from './assemble-executions.ts';
import { assembleTurns, type TurnParts } from './assemble-turns.ts';
import { startNextAfter } from '../workflows/controls/turns.ts';
import { addLiveLines } from '../runs/add-live-lines.sql.ts';
import { countCrash } from '../runs/count-crash.sql.ts';
import { countListeners } from '../runs/counts/count-listeners.sql.ts';
import { createHeavyTurns } from '../db/heavy-turns.ts';
import type { HistoryCount } from '../accounts/history-row-bytes.ts';
import { retryWhileAway } from '../db/lost-connection.ts';
import { readDbValue } from '../runs/read-db-value.sql.ts';
import { releaseInvocations } from '../runs/release-invocations.sql.ts';
import type { AccountBacklogs } from '../runs/counts/account-backlogs.ts';
import type { AccountSums } from '../runs/counts/account-sums.ts';
import type { HoldBundle } from '../runs/bundles.ts';
import { createDbOverlay } from '../runs/db-overlay.ts';
import { createDbTurns } from '../fairness/db-turns.ts';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../runs/dispatcher.ts';
import { type HeldInvocation, isWorkflow } from '../events/invocation.ts';
import { createInvocationRunner } from '../runs/invocation-runner.ts';
import { createLiveLines, type LiveLines } from '../runs/live-lines.ts';
import { createListenerCounts } from '../runs/counts/listener-counts.ts';
import { createRunPreparer } from '../runs/prepare-run.ts';
import { createRunCommitter, type RunCommitter, type RunCommitterOptions } from '../runs/commit/run-committer.ts';
import type { RunnerContext } from '../runs/run-invocation.ts';
import { createSourceRuntimes, type SourceRuntimes } from '../runs/source-runtime.ts';

export interface RunParts {
  sql: Sql;
  node: NodeLease;
  sandbox: Sandbox;
  guestFetch: GuestFetch;
  limits: LimitsCache;
  deliverer: Deliverer;
  activeTenants: ActiveTenants;
  opener: PropOpener;
  sealer: Sealer;
  openEnvironment: (accountId: string, names: readonly string[]) => Promise<Record<string, string>>;
  publicUrl: string;
  resolveAuth: AuthCache['resolve'];
  metrics: EngineMetrics;
  watches: Pick<Watches, 'committed'>;
  backlogs: AccountBacklogs;
  watchdog: Pick<Watchdog, 'part'>;
  dbSizes: AccountSums;
  waiting: AccountSums;
  history: HistoryCount;
  stats: StatCount;
  holdBundle: HoldBundle;
  log: Log;
}

export interface Runs {
  runtimes: SourceRuntimes;
  context: RunnerContext;
  dispatcher: Dispatcher;
  committer: Pick<RunCommitter, 'drain'>;
  /** Commits of events for which a client waits. */
  publishing: Pick<RunCommitter, 'commit' | 'isBehind'>;
  executions: ExecutionParts;
  turns: TurnParts;
}

/**
 * Between commits of executions and published events: of some of them a client waits for the end.
 */
const EXECUTIONS_INTERVAL_MS = 3;

/** Everything from a held invocation to its commit. */
export function assembleRuns(parts: RunParts): Runs {
  const { sql, node, log } = parts;
  const runtimes = createSourceRuntimes(sql, parts.opener);
  const committing: RunCommitterOptions = {
    sql,
    nodeId: node.id,
    deliverer: parts.deliverer,
    dispatcher: () => dispatcher,
    onCommitted(run, committed) {
      parts.metrics.runCommitted(run, committed);
      if (run.abandoned !== undefined && committed.committed) tellAbandoned(log, run);
      parts.watches.committed(run.sourceId, committed.last);
    },
    listeners: createListenerCounts((accountId, emitterId) => countListeners(sql, accountId, emitterId)),
    backlogs: parts.backlogs,
    dbSizes: parts.dbSizes,
    history: parts.history,
    stats: parts.stats,
    heavyTurns: createHeavyTurns(),
    watch: parts.watchdog.part('commits of runs'),
    activeTenants: parts.activeTenants,
    nowMs: Date.now,
    log,
  };
  const { committer, executionCommitter, publishing, isBehind, stopRetries } = createCommitters(committing);
  const live = assembleLiveLines(parts);
  const context: RunnerContext = {
    sandbox: parts.sandbox,
    overlay: createDbOverlay(),
    fetch: parts.guestFetch.fetch,
    ...assembleStores(parts),
    prepare: createRunPreparer(parts.resolveAuth),
    commit: committer.commit,
    countCrash: (invocation) => countCrash(sql, invocation),
    holdBundle: parts.holdBundle,
    live,
    nowMs: Date.now,
  };
  const release: DispatcherOptions['release'] = (invocations) => releaseHeld(sql, invocations);
  const runSource = createInvocationRunner({ ...context, runtimes, release, limits: parts.limits });
  const executions = assembleExecutions(parts, context, { committer: executionCommitter, release, lease: node });
  const run: DispatcherOptions['run'] = (invocation, ran, again, lost) => {
    parts.activeTenants.saw(invocation.accountId, performance.now());
    return isWorkflow(invocation.sourceId) ? executions.run(invocation, ran, again, lost) : runSource(invocation, ran);
  };
  const { isSuspended } = parts.limits;
  const turns = assembleTurns({ sql, nodeId: node.id, dispatcher: () => dispatcher, isSuspended, log });
  const dispatcher = createDispatcher({
    run: startNextAfter(turns.turns, run),
    release,
    limits: parts.limits,
    isBehind,
    log,
  });
  const drain = inOrder([live.stop, committer.drain, executions.drain]);
  const stoppable = { ...dispatcher, stop: stopAfter([stopRetries, executions.stopRetries], dispatcher.stop) };
  return { runtimes, context, committer: { drain }, publishing, executions, dispatcher: stoppable, turns };
}

function assembleLiveLines({ sql, watches, history, log }: RunParts): LiveLines {
  return createLiveLines({
    store: (lines) => addLiveLines(sql, lines, Date.now()),
    onStored(added) {
      for (const { emitterId, at } of added) watches.committed(emitterId, at);
    },
    onBytes: (accountId, bytes) => history.add(accountId, bytes + LIMITS.historyRowBytes),
    log,
  });
}

function inOrder(steps: readonly (() => Promise<void>)[]): () => Promise<void> {
  return async () => {
    for (const step of steps) await step();
  };
}

function stopAfter(before: readonly (() => void)[], stop: () => Promise<void>): () => Promise<void> {
  return () => {
    for (const end of before) end();
    return stop();
  };
}

/** Commits of runs, and of executions and published events, which do not wait for each other. */
function createCommitters(options: RunCommitterOptions) {
  const committer = createRunCommitter(options);
  const executionCommitter = createRunCommitter({
    ...options,
    minIntervalMs: (lastBatch) => (lastBatch > 1 ? EXECUTIONS_INTERVAL_MS : 0),
  });
  const isBehind = (accountId: string) => committer.isBehind(accountId) || executionCommitter.isBehind(accountId);
  return {
    committer,
    executionCommitter,
    publishing: { commit: executionCommitter.commit, isBehind },
    isBehind,
    stopRetries() {
      committer.stop();
      executionCommitter.stop();
    },
  };
}

function assembleStores({
  sql,
  activeTenants,
}: RunParts): Pick<RunnerContext, 'readDbValue' | 'readDbInTurn' | 'callDataStore'> {
  // A run that goes on for long brings nothing meanwhile, and its own account is not seen.
  const hasOthers = (accountId: string, now = performance.now()) =>
    activeTenants.hasSeveral(now) || activeTenants.hasLightOther(accountId, now);
  return {
    readDbValue: (sourceId, key, onAway) => retryWhileAway(() => readDbValue(sql, sourceId, key), onAway),
    readDbInTurn: createDbTurns(hasOthers),
    callDataStore: createDataStoreCalls(sql, hasOthers),
  };
}

/** The operator's alert: nothing runs it again by itself. */
function tellAbandoned(log: Log, { accountId, sourceId, invocation, record }: RunCommit): void {
  const about = { account: accountId, source: sourceId, run: invocation?.id, reason: record?.errorMessage };
  log.error(about, 'a run was abandoned; POST /v1/runs/{id}/retry runs it again');
}

/**
 * Rows go back to whichever node is free; clients that wait for the component's own answer are
 * told.
 */
async function releaseHeld(sql: Sql, invocations: readonly HeldInvocation[]): Promise<void> {
  for (const invocation of invocations) {
    invocation.respond?.({
      ok: false,
      message: 'The source cannot run at the moment; the request is kept and runs later',
    });
  }
  for (const [nodeId, held] of Map.groupBy(invocations, (invocation) => invocation.leasedBy)) {
    await releaseInvocations(sql, nodeId, held);
  }
}
