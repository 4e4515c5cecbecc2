import type { Sandbox } from '@headwater/sandbox-runtime';
import { LIMITS, type Presence } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { AuthCache } from '../connected-accounts/auth-cache.ts';
import { createDataStoreCalls } from '../data-stores/run-calls.ts';
import type { Deliverer } from '../delivery/deliverer.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { RunCommit } from '../events/commit-plan.ts';
import type { Log } from '../log.ts';
import type { Watchdog } from '../watchdog.ts';
import type { EngineMetrics } from '../metrics.ts';
import type { NodeLease } from '../nodes/node-lease.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { StatCount } from '../stats/stat-meter.ts';
import type { PropOpener } from '../sources/run-props.ts';
import type { Watches } from '../streams/watches.ts';
import type { Sql } from '../store/database.ts';
import { assembleExecutions, type ExecutionParts } from '../workflows/run/assemble-executions.ts';
import { assembleTurns, type TurnParts } from '../workflows/controls/assemble-turns.ts';
import { thenNext } from '../workflows/controls/turns.ts';
import { addLiveLines } from '../store/add-live-lines.ts';
import { countCrash } from '../store/count-crash.ts';
import { countListeners } from '../store/count-listeners.ts';
import { createHeavyTurns } from '../store/heavy-turns.ts';
import type { HistoryCount } from '../store/history-row-bytes.ts';
import { readComponentBundle } from '../store/read-component-bundle.ts';
import { askUntilBack } from '../store/lost-connection.ts';
import { readDbValue } from '../store/read-db-value.ts';
import { releaseInvocations } from '../store/release-invocations.ts';
import type { AccountBacklogs } from './account-backlogs.ts';
import type { AccountSums } from './account-sums.ts';
import { createBundles } from './bundles.ts';
import { createDbOverlay } from './db-overlay.ts';
import { createDbTurns } from './db-turns.ts';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { type HeldInvocation, isWorkflow } from './invocation.ts';
import { createInvocationRunner } from './invocation-runner.ts';
import { createLiveLines, type LiveLines } from './live-lines.ts';
import { createListenerCounts } from './listener-counts.ts';
import { createRunPreparer } from './prepare-run.ts';
import { createRunCommitter, type RunCommitter, type RunCommitterOptions } from './run-committer.ts';
import type { RunContext } from './run-invocation.ts';
import { createSourceRuntimes, type SourceRuntimes } from './source-runtime.ts';

export interface RunParts {
  sql: Sql;
  node: NodeLease;
  sandbox: Sandbox;
  guestFetch: GuestFetch;
  limits: LimitsCache;
  deliverer: Deliverer;
  presence: Presence;
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
  log: Log;
}

export interface Runs {
  runtimes: SourceRuntimes;
  context: RunContext;
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
    presence: parts.presence,
    nowMs: Date.now,
    log,
  };
  const { committer, executionCommitter, publishing, isBehind, stopRetries } = createCommitters(committing);
  const live = assembleLiveLines(parts);
  const context: RunContext = {
    sandbox: parts.sandbox,
    overlay: createDbOverlay(),
    fetch: parts.guestFetch.fetch,
    ...assembleStores(parts),
    prepare: createRunPreparer(parts.resolveAuth),
    commit: committer.commit,
    countCrash: (invocation) => countCrash(sql, invocation),
    holdBundle: createBundles({
      read: (componentId) => readComponentBundle(sql, componentId),
      maxHeldChars: LIMITS.maxHeldBundleChars,
    }),
    live,
    nowMs: Date.now,
  };
  const release: DispatcherOptions['release'] = (invocations) => releaseHeld(sql, invocations);
  const runSource = createInvocationRunner({ ...context, runtimes, release, limits: parts.limits });
  const executions = assembleExecutions(parts, context, { committer: executionCommitter, release, lease: node });
  const run: DispatcherOptions['run'] = (invocation, ran, again, lost) => {
    parts.presence.saw(invocation.accountId, performance.now());
    return isWorkflow(invocation.sourceId) ? executions.run(invocation, ran, again, lost) : runSource(invocation, ran);
  };
  const turns = assembleTurns({ sql, nodeId: node.id, dispatcher: () => dispatcher, log });
  const dispatcher = createDispatcher({
    run: thenNext(turns.turns, run),
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
  presence,
}: RunParts): Pick<RunContext, 'readDbValue' | 'readDbInTurn' | 'callDataStore'> {
  // A run that goes on for long brings nothing meanwhile, and its own account is not seen.
  const hasOthers = (accountId: string, now = performance.now()) =>
    presence.hasSeveral(now) || presence.hasLightOther(accountId, now);
  return {
    readDbValue: (sourceId, key, onAway) => askUntilBack(() => readDbValue(sql, sourceId, key), onAway),
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
