import { LIMITS } from '@headwater/shared';
import { createAccounts, createIdempotency, createKeyCache, createSessions, type KeyCache } from '../accounts/index.ts';
import { createArchives, readinessProblems } from '../cluster/index.ts';
import type { Accounts, Engine, EngineOptions, People, Publisher, Streams, WorkflowTests } from '../contract/index.ts';
import { createDataStores } from '../data-stores/index.ts';
import { type Stop, stopInReverse, type Stops } from '../db/index.ts';
import { createEnvironment, createOpenEnvironment, type OpenEnvironment } from '../environment/index.ts';
import { createRequestRate } from '../fairness/index.ts';
import { createWatches, type Watches } from '../events/index.ts';
import { createEventsSource, createPublisher, endpointUrls } from '../ingest/index.ts';
import {
  countWaitingExecutions,
  createAudit,
  createEvents,
  createExecutionReads,
  createOperator,
  createStats,
  createStreams,
  createTraces,
  createUsage,
  readLastPositions,
} from '../observe/index.ts';
import { createAutoSubscriptions } from '../outbox/index.ts';
import { createPasswords, createPeople } from '../people/index.ts';
import { createAbandonedRuns, createReplays } from '../runs/index.ts';
import { createStacks } from '../stacks/index.ts';
import { createWorkflows, createWorkflowTests } from '../workflows/index.ts';
import { assembleApps, type AssembledApps } from './assemble-apps.ts';
import { assembleCode, type Code } from './assemble-code.ts';
import { assembleHooks, assembleOutbox, type Hooks, type Outbox } from './assemble-outbox.ts';
import { assembleRuns, type Runs } from './assemble-runs.ts';
import { type EngineParts, type Ground, startGround } from './ground.ts';
import { type AccountCounts, startAccountCounts } from './start-account-counts.ts';
import { type IntakeParts, startIntake } from './start-intake.ts';
import { type Jobs, startJobs } from './start-jobs.ts';

/** Every part of a node, in the order in which they are made. */
interface Parts {
  ground: Ground;
  counts: AccountCounts;
  following: Following;
  connected: AssembledApps;
  environment: OpenEnvironment;
  outbox: Outbox;
  runs: Runs;
  intake: IntakeParts;
  code: Code;
  hooks: Hooks;
  jobs: Jobs;
}

/**
 * Assembles a node on a migrated database and starts it. This file is the table of contents: which
 * part gets what is said here, and in the file of the group that it belongs to.
 */
export async function assembleEngine(options: EngineOptions, given: EngineParts): Promise<Engine> {
  const { publicUrl } = options;
  const ground = await startGround(options, given);
  const { sql, sealer, limits, guestFetch, metrics, sandbox } = ground;
  const counts = await startAccountCounts(options, ground);
  const following = createFollowing(ground);
  const { watches, streams } = following;
  const connected = assembleApps({ sql, sealer, guestFetch, limits }, options);
  const { auth } = connected;
  const environment = createOpenEnvironment({ sql, sealer });
  const opener = { ...sealer, endpointUrl: endpointUrls(options) };
  const outbox = assembleOutbox(options, ground, counts);
  const { deliverer, sendRunner: sends } = outbox;
  const openEnvironment = environment.open;
  const resolveAuth = auth.resolve;
  const runs = assembleRuns({
    ground,
    counts,
    deliverer,
    watches,
    opener,
    openEnvironment,
    resolveAuth,
    publicUrl,
  });
  const waiting = () => countWaitingExecutions(sql);
  metrics.watch({ dispatcher: runs.dispatcher, deliverer, sends, sandbox, streams, waiting });
  const intake = await startIntake({ ground, counts, outbox, runs, auth, environment });
  const { backlogs } = counts;
  const { changes } = intake;
  const code = assembleCode(options, { ground, backlogs, runs, intake: intake.intake, opener, resolveAuth, changes });
  const jobs = await startJobs(options, given, { ground, counts, outbox, runs });
  const hooks = assembleHooks(ground, outbox, code);
  return engineOf(options, given.gaveUp, {
    ground,
    counts,
    following,
    connected,
    environment,
    outbox,
    runs,
    intake,
    code,
    hooks,
    jobs,
  });
}

/** The engine as the API sees it. */
function engineOf(options: EngineOptions, gaveUp: AbortSignal, parts: Parts): Engine {
  const { publicUrl } = options;
  const { ground, counts, following, connected, environment, outbox, runs, intake, code, hooks, jobs } = parts;
  const { db, sql, sealer, limits, room, node, metrics, watchdog } = ground;
  const { backlogs } = counts;
  const { forget } = environment;
  const cache = createKeyCache();
  const accounts = createAccounts({ db, limits, room, uses: intake.keyUses, cache });
  let stopping: Promise<void> | undefined;
  return {
    accounts,
    archives: createArchives({ databaseUrl: db.currentUrl, sealer, defaults: limits.defaults }),
    sessions: createSessions({ sealer, maxAgeMs: LIMITS.sessionMaxAgeMs }),
    people: assemblePeople(options, parts, cache, accounts),
    components: code.components,
    registry: code.registry,
    imports: code.imports,
    componentProps: code.componentProps,
    sources: code.sources,
    workflows: createWorkflows({ ...code.sourceParts, sources: code.sources, queueInTurn: intake.inTurn.queue }),
    workflowTests: assembleTests(publicUrl, parts),
    stacks: createStacks(sql),
    environment: createEnvironment({ sql, sealer, limits, forget }),
    dataStores: createDataStores({ db, limits }),
    apps: connected.apps,
    connectedAccounts: connected.connectedAccounts,
    events: createEvents({ db }),
    publisher: assemblePublisher(parts),
    audit: createAudit(sql, ground.log),
    idempotency: createIdempotency({ sql, sealer, nodeId: node.id, nowMs: Date.now }),
    streams: {
      ...following.streams,
      end() {
        following.streams.end();
        hooks.tunnels.end();
      },
    },
    traces: createTraces(sql),
    stats: createStats(sql, Date.now),
    usage: createUsage({ sql, counts: counts.stats, nowMs: Date.now }),
    operator: createOperator(sql, Date.now),
    sampleReceiver: outbox.sampleReceiver,
    executions: { ...createExecutionReads(sql), ...runs.executions.actions },
    abandonedRuns: createAbandonedRuns({ sql, limits, backlogs }),
    replays: createReplays({ sql, nowMs: Date.now }),
    webhooks: hooks.webhooks,
    subscriptions: hooks.subscriptions,
    tunnels: hooks.tunnels,
    autoSubscriptions: createAutoSubscriptions({ db, room }),
    sends: outbox.sends,
    ingest: intake.ingest,
    ...(ground.spans === undefined ? {} : { tracing: ground.spans }),
    problems: () => readinessProblems(db, watchdog.problems),
    metrics: metrics.text,
    drain() {
      // The stop waits for both, and fails where they do.
      for (const started of [runs.dispatcher.drain(), jobs.stop()]) started.catch(() => undefined);
    },
    stop: () => (stopping ??= stopInReverse(stopsOf(parts), ground.log, gaveUp)),
  };
}

/** Last started, first stopped: intake first, then what is under way, then what it needs. */
function stopsOf({ ground, counts, following, outbox, runs, intake, code, hooks, jobs }: Parts): Stops {
  return {
    watchdog: async () => ground.watchdog.stop(),
    lease: ground.node.stop,
    ...counts.stops,
    ports: ground.stopPorts,
    changes: intake.changes.stop,
    'requests of components': ground.guestFetch.stop,
    'starter of processes': ground.starter.stop,
    sandbox: ground.sandbox.stop,
    sends: outbox.sendRunner.stop,
    'inbox of tunnels': async () => outbox.tunnelInbox.stop(),
    deliveries: outbox.deliverer.stop,
    ...runs.stops,
    ...intake.stops,
    streams: following.stop,
    imports: code.stopImports,
    recovery: code.stopRecovery,
    tunnels: hooks.tunnels.stop,
    jobs: jobs.stop,
  };
}

interface Following {
  watches: Watches;
  streams: Streams & { open(): number };
  stop: Stop;
}

/** Streams and traces, which clients follow while it happens. */
function createFollowing({ sql, limits, log }: Ground): Following {
  const watches = createWatches({
    readLast: (ids) => readLastPositions(sql, ids),
    onError: (err) => log.warn({ err }, 'new events for streams could not be read'),
  });
  const streams = createStreams({ sql, limits, watches });
  return {
    watches,
    streams,
    async stop() {
      streams.end();
      await watches.stop();
    },
  };
}

function assemblePeople(
  { publicUrl, oidc }: EngineOptions,
  { ground: { sql, limits, sealer, log }, outbox: { mailer } }: Parts,
  cache: KeyCache,
  { authenticate }: Pick<Accounts, 'authenticate'>,
): People {
  return createPeople({
    sql,
    limits,
    cache,
    authenticate,
    passwords: createPasswords(),
    mailer,
    sealer,
    ...(oidc === undefined ? {} : { oidc }),
    publicUrl,
    log,
  });
}

function assemblePublisher({ code: { sources }, ground, runs, counts }: Parts): Publisher {
  const { sql, limits, traces, activeTenants } = ground;
  return createPublisher({
    committer: runs.publishing,
    findSource: runs.runtimes.get,
    eventsSource: createEventsSource({ sql, create: sources.create, remove: sources.delete }),
    limits,
    traces,
    rate: createRequestRate(() => performance.now()),
    stats: counts.stats,
    activeTenants,
    nowMs: Date.now,
  });
}

function assembleTests(publicUrl: string, { ground, runs, code }: Parts): WorkflowTests {
  const { sql, limits, holdBundle } = ground;
  const { runtimes, stepContext: steps } = runs.executions;
  return createWorkflowTests({
    sql,
    sealer: code.sourceParts.sealer,
    runtimes,
    steps,
    limits,
    waitUrls: (id, token) => ({
      resumeUrl: `${publicUrl}/resume/${id}/${token}`,
      cancelUrl: `${publicUrl}/cancel/${id}/${token}`,
    }),
    components: code.components,
    readBundle: code.readBundle,
    holdBundle,
    additionalPropsOf: code.additionalPropsOf,
  });
}
