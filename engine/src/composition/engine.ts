import { LIMITS } from '@headwater/shared';
import { createAccounts } from '../accounts/accounts.ts';
import { createComponentProps } from '../sources/configure-props.ts';
import type { Engine } from '../contract/engine.ts';
import type { Publisher } from '../contract/publish.ts';
import type { WorkflowTests } from '../contract/workflow-tests.ts';
import { createAutoSubscriptions } from '../outbox/subscriptions/auto-subscriptions.ts';
import { createDataStores } from '../data-stores/data-stores.ts';
import { joinInboxes } from '../outbox/transports/webhook/inbox.ts';
import { createReplays } from '../runs/replays/replays.ts';
import { createTransformsOfWebhooks } from '../transforms/preview-transform.ts';
import { createSubscriptions } from '../outbox/subscriptions/subscriptions.ts';
import { createWebhooks } from '../outbox/webhooks/webhooks.ts';
import { createStacks } from '../stacks/stacks.ts';
import { createEnvironment } from '../environment/environment.ts';
import { createEvents } from '../observe/search/stored-events.ts';
import type { EngineOptions } from '../contract/engine-options.ts';
import { createExecutionReads } from '../observe/read-executions.ts';
import { createAudit } from '../observe/audit/audit.ts';
import { createKeyUses } from '../accounts/key-uses.ts';
import { followSuspensions } from '../cluster/follow-suspensions.ts';
import { followChanges } from '../cluster/follow-changes.ts';
import { createIdempotency } from '../accounts/idempotency.ts';
import { createIngest } from '../ingest/ingest.ts';
import { startLanes } from '../cluster/jobs/lanes.ts';
import { startUnheldLeases } from '../cluster/unheld-leases.ts';
import { startRetention } from '../cluster/retention/retention.ts';
import { builderOf, fetchCode, retentionOf } from './parts-from-options.ts';
import { createEventsSource } from '../ingest/events-source.ts';
import { createPublisher } from '../ingest/publisher.ts';
import { readinessProblems } from '../cluster/readiness.ts';
import { assembleRegistry } from './assemble-registry.ts';
import { createAbandonedRuns } from '../runs/abandoned-runs.ts';
import { createIntake } from '../runs/intake.ts';
import { createRequestRate } from '../fairness/request-rate.ts';
import { type EngineParts, startGround } from './start-ground.ts';
import { assembleRuns } from './assemble-runs.ts';
import { type RunTask, runTask } from '../runs/run-invocation.ts';
import { assembleSends } from './assemble-sends.ts';
import { createSessions } from '../accounts/sessions.ts';
import { createChangeTurns } from '../sources/lifecycle.ts';
import { startChangeRecovery } from '../sources/recover-changes.ts';
import { createOperator, createStats } from '../observe/stats/stats.ts';
import { createSources } from '../sources/sources.ts';
import { stopInOrder } from '../db/stop-in-order.ts';
import { readComponentBundle } from '../components/read-component-bundle.sql.ts';
import { countWaitingExecutions } from '../observe/read-executions.sql.ts';
import { startTelling } from '../runs/tell-notices.ts';
import { createTunnels } from '../outbox/tunnels/tunnels.ts';
import { createTraces } from '../observe/traces/traces.ts';
import { createInTurnIntake } from '../workflows/controls/in-turn-intake.ts';
import { createWorkflowTests } from '../workflows/controls/workflow-tests.ts';
import { createWorkflows } from '../workflows/workflows.ts';

/** Assembles a node on a migrated database and starts it. */
export async function assembleEngine(options: EngineOptions, parts: EngineParts): Promise<Engine> {
  const { db, sealer } = parts;
  const base = await startBase(options, parts);
  const code = assembleCode(options, parts, base);
  const stopJobs = once(await startJobs(options, parts, base));
  const hooks = assembleHooks(parts, base, code);
  const endStreams = () => {
    base.streams.end();
    hooks.tunnels.end();
  };
  const { limits, room, connected, metrics, ingest } = base;
  let stopping: Promise<void> | undefined;
  return {
    accounts: createAccounts({ db, limits, room, uses: base.keyUses }),
    sessions: createSessions({ sealer, maxAgeMs: LIMITS.sessionMaxAgeMs }),
    components: code.components,
    registry: code.registry,
    imports: code.imports,
    componentProps: code.componentProps,
    sources: code.sources,
    workflows: createWorkflows({ ...code.sourceParts, sources: code.sources, queueInTurn: base.inTurn.queue }),
    workflowTests: assembleTests(options.publicUrl, code, base),
    stacks: createStacks(db.sql),
    environment: createEnvironment({ sql: db.sql, sealer, limits, forget: base.environment.forget }),
    dataStores: createDataStores({ db, limits }),
    apps: connected.apps,
    connectedAccounts: connected.connectedAccounts,
    events: createEvents({ db }),
    publisher: assemblePublisher(code, base),
    audit: createAudit(db.sql),
    idempotency: createIdempotency({ sql: db.sql, sealer, nodeId: base.node.id, nowMs: Date.now }),
    streams: { ...base.streams, end: endStreams },
    traces: createTraces(db.sql),
    stats: createStats(db.sql, Date.now),
    operator: createOperator(db.sql, Date.now),
    sampleReceiver: base.sampleReceiver,
    executions: { ...createExecutionReads(db.sql), ...base.runs.executions.actions },
    abandonedRuns: createAbandonedRuns({ sql: db.sql, limits, backlogs: base.backlogs }),
    replays: createReplays({ sql: db.sql, nowMs: Date.now }),
    webhooks: hooks.webhooks,
    subscriptions: hooks.subscriptions,
    tunnels: hooks.tunnels,
    autoSubscriptions: createAutoSubscriptions({ db, room }),
    sends: base.sends,
    ingest,
    problems: () => readinessProblems(db, base.watchdog.problems),
    metrics: metrics.text,
    drain() {
      // The stop waits for both, and fails where they do.
      for (const started of [base.runs.dispatcher.drain(), stopJobs()]) started.catch(() => undefined);
    },
    stop() {
      // Intake first, then what is under way, then what it needs.
      stopping ??= stopInOrder([stopJobs, hooks.tunnels.stop, code.stop, ...base.stops]);
      return stopping;
    },
  };
}

/** Webhooks, who subscribes them, and those to which a developer listens. */
function assembleHooks({ db, sealer }: EngineParts, base: Base, { components }: Code) {
  const { room, limits, deliverer, tunnelInbox, sampleReceiver, egress, log } = base;
  const { giveBack, attemptOnce } = deliverer;
  const own = joinInboxes([sampleReceiver, tunnelInbox]);
  // Deliveries that stay within the node pass by the guard, which refuses the node itself.
  const checkUrl = (url: URL) => (own.isBelow(url.href) ? undefined : egress.checkUrl(url));
  const transforms = createTransformsOfWebhooks({ sql: db.sql, components, run: base.transform });
  const webhooks = createWebhooks({ db, sealer, room, giveBack, attemptOnce, checkUrl, transforms });
  const subscriptions = createSubscriptions({ db, room });
  const tunnels = createTunnels({ sql: db.sql, base: tunnelInbox.base, webhooks, subscriptions, limits, log });
  return { webhooks, subscriptions, tunnels };
}

function assemblePublisher({ sources }: Code, { sql, runs, limits, stats }: Base): Publisher {
  return createPublisher({
    committer: runs.publishing,
    findSource: runs.runtimes.get,
    eventsSource: createEventsSource({ sql, create: sources.create, remove: sources.delete }),
    limits,
    rate: createRequestRate(() => performance.now()),
    stats,
    nowMs: Date.now,
  });
}

function assembleTests(publicUrl: string, { components, propParts }: Code, base: Base): WorkflowTests {
  const { sql, sealer } = propParts;
  const { runs, limits } = base;
  const { runtimes, stepContext: steps } = runs.executions;
  const waitUrls = (id: string, token: string) => ({
    resumeUrl: `${publicUrl}/resume/${id}/${token}`,
    cancelUrl: `${publicUrl}/cancel/${id}/${token}`,
  });
  return createWorkflowTests({
    sql,
    sealer,
    runtimes,
    steps,
    limits,
    waitUrls,
    components,
    readBundle: propParts.readBundle,
    holdBundle: base.holdBundle,
    additionalPropsOf: (unsaved) =>
      createComponentProps({ ...propParts, components: unsaved, readBundle: unsaved.readBundle }).additionalProps,
  });
}

/** What runs components and delivers, and what that needs. */
async function startBase(options: EngineOptions, parts: EngineParts) {
  const ground = await startGround(options, parts);
  const { sql, node, limits, starter, sandbox, deliverer, metrics, guestFetch, streams, environment } = ground;
  const { backlogs, stats, watchdog, log } = ground;
  const { auth } = ground.connected;
  const runs = assembleRuns({
    ...ground,
    openEnvironment: environment.open,
    publicUrl: options.publicUrl,
    resolveAuth: auth.resolve,
  });
  const { dispatcher, runtimes, committer, turns } = runs;
  node.onLost(dispatcher.loseNode);
  const { sends, sendRunner } = assembleSends(ground, options);
  const parked = () => countWaitingExecutions(sql);
  metrics.watch({ dispatcher, deliverer, sends: sendRunner, sandbox, streams, waiting: parked });
  const inTurn = createInTurnIntake({ sql, nodeId: node.id, dispatcher, stats, ...turns });
  const intake = createIntake({ sql, nodeId: node.id, dispatcher, backlogs, stats, watch: watchdog.part('requests') });
  watchdog.look('invocations that this node holds', () => {
    const held = dispatcher.stats();
    return held.waiting > 0 && held.running === 0 && held.committing === 0;
  });
  const ingest = createIngest({ sql, limits, inTurn, backlogs, intake });
  const keyUses = createKeyUses(sql, log);
  followSuspensions({ sql, limits, dispatcher, deliverer, sends: sendRunner, log });
  const stopListening = await turns.listen();
  const workflows = runs.executions.runtimes.state;
  const changes = await followChanges(sql, { runtimes, workflows, ingest, limits, auth, environment, deliverer, log });
  const stopLooking = startUnheldLeases({ sql, nodeId: node.id, dispatcher, deliverer, sends: sendRunner, log });
  const stopTelling = startTelling({ sql, committer: runs.publishing, log });
  const stops = [
    keyUses.stop,
    stopTelling,
    ground.stopStreams,
    stopLooking,
    async () => turns.clients.stop(),
    stopListening,
    dispatcher.stop,
    turns.turns.settled,
    committer.drain,
    deliverer.stop,
    async () => ground.tunnelInbox.stop(),
    sendRunner.stop,
    sandbox.stop,
    starter.stop,
    guestFetch.stop,
    changes.stop,
    ground.stopPorts,
    ground.stopCounts,
    node.stop,
    async () => watchdog.stop(),
  ];
  return { ...ground, keyUses, sends, sendRunner, runs, intake, inTurn, ingest, changes, stops };
}

type Base = Awaited<ReturnType<typeof startBase>>;

/** Saved code, and the sources made of it. */
function assembleCode(options: EngineOptions, { db }: EngineParts, base: Base) {
  const { log, role } = options;
  const {
    limits,
    room,
    backlogs,
    intake,
    guestFetch,
    starter,
    sandbox,
    opener: sealer,
    connected,
    runs,
    changes,
    node,
  } = base;
  const fetch = fetchCode(guestFetch, limits);
  const shared = assembleRegistry({
    db,
    sandbox,
    builder: builderOf(options, starter),
    limits,
    room,
    fetch,
    log,
    role,
  });
  const { components, registry, imports } = shared;
  const { sql } = db;
  const resolveAuth = connected.auth.resolve;
  const readBundle = (componentId: string) => readComponentBundle(sql, componentId);
  const propParts = { ...runs.context, sql, readBundle, components, limits, sealer, resolveAuth };
  const componentProps = createComponentProps(propParts);
  const sourceParts = {
    db,
    components,
    additionalProps: componentProps.additionalProps,
    limits,
    backlogs,
    intake,
    room,
    changeTurns: createChangeTurns(),
    sealer,
    runTask: (task: RunTask) => runTask(runs.context, task),
    forget: changes.forget,
    nodeId: node.id,
    log,
  };
  const stopRecovery = startChangeRecovery({ ...sourceParts, commit: runs.context.commit });
  const stop = () => stopInOrder([stopRecovery, shared.stop]);
  const sources = createSources(sourceParts);
  return { components, registry, imports, propParts, componentProps, sourceParts, sources, stop };
}

type Code = ReturnType<typeof assembleCode>;

/** What is done beside requests: nothing on a node of the role `api`. */
async function startJobs(options: EngineOptions, { db, databaseUrl }: EngineParts, base: Base) {
  const { log, role } = options;
  if (role === 'api') return async () => undefined;
  const { node, deliverer, sendRunner, runs } = base;
  const { dispatcher, turns } = runs;
  const lanes = await startLanes({
    databaseUrl,
    sql: db.sql,
    node,
    dispatcher,
    backlogs: base.backlogs,
    stats: base.stats,
    history: base.history,
    turns: turns.turns,
    deliverer,
    sends: sendRunner,
    activeTenants: base.activeTenants,
    limits: base.limits,
    log,
  });
  const stopRetention = startRetention(retentionOf(options, db.sql));
  return () => stopInOrder([lanes.stop, async () => stopRetention()]);
}

function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => (stopped ??= stop());
}
