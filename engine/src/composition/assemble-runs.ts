import { createHeavyTurns, growingInterval, retryWhileAway, type Sql, type Stops } from '../db/index.ts';
import { LIMITS } from '@headwater/shared';
import type { OpenEnvironment } from '../environment/index.ts';
import type { AuthCache } from '../connections/index.ts';
import type { Log } from '../contract/index.ts';
import { createDataStoreCalls } from '../data-stores/index.ts';
import { type HeldInvocation, isWorkflow, type Watches } from '../events/index.ts';
import { createDbTurns } from '../fairness/index.ts';
import type { Deliverer } from '../outbox/index.ts';
import type { PropOpener } from '../props/index.ts';
import {
  addLiveLines,
  countCrash,
  countListeners,
  createDbOverlay,
  createDispatcher,
  createInvocationRunner,
  createListenerCounts,
  createLiveLines,
  createRunCommitter,
  createRunPreparer,
  createSourceRuntimes,
  createWaitingClients,
  type Dispatcher,
  type DispatcherOptions,
  type LiveLines,
  readDbValue,
  kept,
  releaseInvocations,
  type RunCommit,
  type RunCommitter,
  type RunCommitterOptions,
  type RunnerContext,
  type SourceRuntimes,
  type WaitingClients,
} from '../runs/index.ts';
import { clearWaitingClient, createTurns, startNextAfter, type Turns } from '../workflows/index.ts';
import { assembleExecutions, type Executions } from './assemble-executions.ts';
import type { Ground } from './ground.ts';
import type { AccountCounts } from './start-account-counts.ts';

interface RunNeeds {
  ground: Ground;
  counts: AccountCounts;
  deliverer: Deliverer;
  watches: Pick<Watches, 'committed'>;
  opener: PropOpener;
  openEnvironment: OpenEnvironment['open'];
  resolveAuth: AuthCache['resolve'];
  publicUrl: string;
}

export interface Runs {
  runtimes: SourceRuntimes;
  context: RunnerContext;
  dispatcher: Dispatcher;
  /** Commits of events for which a client waits. */
  publishing: Pick<RunCommitter, 'commit' | 'isBehind'>;
  executions: Executions;
  turns: Turns;
  clients: WaitingClients;
  /** Last started, first stopped. */
  stops: Stops;
}

/**
 * Between commits of executions and published events: of some of them a client waits for the end.
 */
const EXECUTIONS_INTERVAL_MS = growingInterval(3, 3);

/** Everything from a held invocation to its commit. */
export function assembleRuns(needs: RunNeeds): Runs {
  const { ground, counts, publicUrl, resolveAuth } = needs;
  const { sql, sealer, node, sandbox, limits, activeTenants, metrics, spans, log } = ground;
  const runtimes = createSourceRuntimes(sql, needs.opener);
  const committers = createCommitters(needs, () => dispatcher);
  const live = createLive(needs);
  const context: RunnerContext = {
    sandbox,
    overlay: createDbOverlay(),
    fetch: ground.guestFetch.fetch,
    ...createStoreCalls(ground),
    prepare: createRunPreparer(resolveAuth),
    commit: committers.ofRuns.commit,
    countCrash: async (invocation) => (invocation.isUnstored ? invocation.crashes + 1 : countCrash(sql, invocation)),
    holdBundle: ground.holdBundle,
    live,
    nowMs: Date.now,
  };
  const release: DispatcherOptions['release'] = (invocations) => releaseHeld(sql, invocations);
  const runSource = createInvocationRunner({ ...context, runtimes, release, limits });
  const executions = assembleExecutions({
    sql,
    sealer,
    opener: needs.opener,
    openEnvironment: needs.openEnvironment,
    publicUrl,
    limits,
    context,
    committer: committers.ofExecutions,
    release,
    lease: node,
    waiting: counts.waiting,
    history: counts.history,
    stats: counts.stats,
    backlogs: counts.backlogs,
    onCommitted: metrics.executionCommitted,
    spans,
    watch: ground.watchdog.part('commits of steps'),
    log,
  });
  const run: DispatcherOptions['run'] = (invocation, ran, again, lost) => {
    activeTenants.saw(invocation.accountId, performance.now());
    return isWorkflow(invocation.sourceId) ? executions.run(invocation, ran, again, lost) : runSource(invocation, ran);
  };
  const clients = createClients(ground);
  const turns = createTurns({ ...limits, sql, nodeId: node.id, dispatcher: () => dispatcher, clients, log });
  const isBehind = (accountId: string) =>
    committers.ofRuns.isBehind(accountId) || committers.ofExecutions.isBehind(accountId);
  const dispatcher = createDispatcher({ run: startNextAfter(turns, run), release, limits, isBehind, log });
  return {
    runtimes,
    context,
    dispatcher,
    publishing: { commit: committers.ofExecutions.commit, isBehind },
    executions,
    turns,
    clients,
    stops: stopsOf(committers, executions, { live, turns, dispatcher }),
  };
}

/** Last started, first stopped. */
function stopsOf(
  { ofRuns, ofExecutions }: ReturnType<typeof createCommitters>,
  executions: Executions,
  { live, turns, dispatcher }: { live: LiveLines; turns: Turns; dispatcher: Dispatcher },
): Runs['stops'] {
  // First of all: what cannot be committed is not tried again.
  const stopRetries = async () => {
    ofRuns.stop();
    ofExecutions.stop();
    executions.stopRetries();
  };
  return {
    'commits of executions': ofExecutions.drain,
    executions: executions.drain,
    'commits of runs': ofRuns.drain,
    'live lines': live.stop,
    turns: turns.settled,
    dispatcher: dispatcher.stop,
    retries: stopRetries,
  };
}

/** Commits of runs, and of executions and published events, which do not wait for each other. */
function createCommitters({ ground, counts, deliverer, watches }: RunNeeds, dispatcher: () => Dispatcher) {
  const { sql, node, metrics, spans, watchdog, activeTenants, log } = ground;
  const options: RunCommitterOptions = {
    sql,
    nodeId: node.id,
    deliverer,
    dispatcher,
    onCommitted(run, committed) {
      metrics.runCommitted(run, committed);
      spans?.runCommitted(run, committed);
      if (run.abandoned !== undefined && committed.committed) tellAbandoned(log, run);
      watches.committed(run.sourceId, committed.last);
    },
    listeners: createListenerCounts((accountId, emitterId) => countListeners(sql, accountId, emitterId)),
    backlogs: counts.backlogs,
    dbSizes: counts.dbSizes,
    history: counts.history,
    stats: counts.stats,
    heavyTurns: createHeavyTurns(),
    watch: watchdog.part('commits of runs'),
    activeTenants,
    nowMs: Date.now,
    log,
  };
  return {
    ofRuns: createRunCommitter(options),
    ofExecutions: createRunCommitter({ ...options, minIntervalMs: EXECUTIONS_INTERVAL_MS }),
  };
}

function createLive({ ground: { sql, log }, counts: { history }, watches }: RunNeeds): LiveLines {
  return createLiveLines({
    store: (lines) => addLiveLines(sql, lines, Date.now()),
    onStored(added) {
      for (const { emitterId, at } of added) watches.committed(emitterId, at);
    },
    onBytes: (accountId, bytes) => history.add(accountId, bytes + LIMITS.historyRowBytes),
    log,
  });
}

function createClients({ sql, log }: Ground): WaitingClients {
  return createWaitingClients({
    maxWaitMs: LIMITS.maxTurnWaitMs,
    onLeft: (id) => {
      clearWaitingClient(sql, id).catch((err: unknown) =>
        log.warn({ err, id }, 'an execution stays bound to this node'),
      );
    },
  });
}

function createStoreCalls({
  sql,
  activeTenants,
}: Ground): Pick<RunnerContext, 'readDbValue' | 'readDbInTurn' | 'callDataStore'> {
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
    invocation.respond?.(kept('The source cannot run at the moment; the request is kept and runs later'));
  }
  for (const [nodeId, held] of Map.groupBy(invocations, (invocation) => invocation.leasedBy)) {
    await releaseInvocations(sql, nodeId, held);
  }
}
