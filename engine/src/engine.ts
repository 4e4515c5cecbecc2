import { startSandbox } from '@headwater/sandbox-runtime';
import { createAccounts } from './accounts/accounts.ts';
import { createComponentProps } from './components/configure-props.ts';
import { assembleApps } from './connected-accounts/assemble-apps.ts';
import type { Engine } from './contract.ts';
import { createAutoSubscriptions } from './delivery/auto-subscriptions.ts';
import { createDataStores } from './data-stores/data-stores.ts';
import { createDeliverer } from './delivery/deliverer.ts';
import { createRetryPolicy } from './delivery/retry-policy.ts';
import { createSubscriptions } from './delivery/subscriptions.ts';
import { createWebhooks } from './delivery/webhooks.ts';
import { createGuestFetch } from './egress/guest-fetch.ts';
import { endpointUrls } from './endpoint-urls.ts';
import { createEvents } from './events/stored-events.ts';
import type { EngineOptions } from './engine-options.ts';
import { followChanges } from './follow-changes.ts';
import { createIngest } from './ingest.ts';
import { startLanes } from './jobs/lanes.ts';
import { createEngineMetrics } from './metrics.ts';
import { maintain } from './nodes/maintain.ts';
import { startNodeLease } from './nodes/node-lease.ts';
import { startRetention } from './nodes/retention.ts';
import {
  builderOf,
  egressOf,
  fetchCode,
  limitsOf,
  retentionOf,
  retryOptionsOf,
  sandboxOptionsOf,
} from './parts-of-options.ts';
import { assembleRegistry } from './registry/assemble-registry.ts';
import { assembleRuns } from './run/assemble-runs.ts';
import { type RunTask, runTask } from './run/run-invocation.ts';
import type { Sealer } from './secrets/seal.ts';
import { startChangeRecovery } from './sources/recover-changes.ts';
import { createSources } from './sources/sources.ts';
import type { Database, Sql } from './store/database.ts';

export interface EngineParts {
  db: Database;
  databaseUrl: string;
  sealer: Sealer;
  /** As in NodeLeaseOptions. */
  encryptionKeyId?: string;
}

/** Assembles a node on a migrated database and starts it. */
export async function assembleEngine(options: EngineOptions, parts: EngineParts): Promise<Engine> {
  const { db, sealer } = parts;
  const base = await startBase(options, parts);
  const code = assembleCode(options, parts, base);
  const stopJobs = await startJobs(options, parts, base);
  const { limits, connected, metrics, ingest } = base;
  let stopping: Promise<void> | undefined;
  return {
    accounts: createAccounts({ db, limits }),
    components: code.components,
    registry: code.registry,
    imports: code.imports,
    componentProps: code.componentProps,
    sources: createSources(code.sourceParts),
    dataStores: createDataStores({ db, limits }),
    apps: connected.apps,
    connectedAccounts: connected.connectedAccounts,
    events: createEvents({ db }),
    webhooks: createWebhooks({ db, sealer }),
    subscriptions: createSubscriptions({ db }),
    autoSubscriptions: createAutoSubscriptions({ db }),
    ingest,
    ready: async () => stopping === undefined && (await answers(db.sql)),
    metrics: metrics.text,
    stop() {
      // Intake first, then what is under way, then what it needs.
      stopping ??= stopInOrder([stopJobs, code.stop, ...base.stops]);
      return stopping;
    },
  };
}

/** What runs components and delivers, and what that needs. */
async function startBase(options: EngineOptions, { db, databaseUrl, sealer, encryptionKeyId }: EngineParts) {
  const { log, role } = options;
  const { sql } = db;
  const limits = limitsOf(options, sql);
  const egress = egressOf(options, databaseUrl);
  const guestFetch = createGuestFetch({ egress });
  const sandbox = await startSandbox(sandboxOptionsOf(options));
  const keyOption = encryptionKeyId === undefined ? {} : { encryptionKeyId };
  const node = await startNodeLease({ sql, role, log, maintain: () => maintain(sql), ...keyOption });
  const retryPolicy = createRetryPolicy(retryOptionsOf(options));
  const metrics = createEngineMetrics();
  const onAttempt = metrics.attemptEnded;
  const deliverer = createDeliverer({ db, nodeId: node.id, sealer, egress, retryPolicy, onAttempt, log });
  const opener = { open: sealer.open, seal: sealer.seal, endpointUrl: endpointUrls(options) };
  const connected = assembleApps({ sql, sealer, guestFetch, limits }, options);
  const { auth } = connected;
  const resolveAuth = auth.resolve;
  const runs = assembleRuns({ sql, node, sandbox, guestFetch, limits, deliverer, opener, resolveAuth, metrics, log });
  const { dispatcher, runtimes, committer } = runs;
  metrics.watch({ dispatcher, deliverer, sandbox });
  const ingest = createIngest({ sql, node, dispatcher, limits });
  const changes = await followChanges(sql, { runtimes, ingest, limits, auth, log });
  const stops = [
    dispatcher.stop,
    committer.drain,
    deliverer.stop,
    sandbox.stop,
    guestFetch.stop,
    changes.stop,
    node.stop,
  ];
  return { limits, guestFetch, sandbox, node, metrics, deliverer, opener, connected, runs, ingest, changes, stops };
}

type Base = Awaited<ReturnType<typeof startBase>>;

/** Saved code, and the sources made of it. */
function assembleCode(options: EngineOptions, { db }: EngineParts, base: Base) {
  const { log, role } = options;
  const { limits, guestFetch, sandbox, opener: sealer, connected, runs, changes, node } = base;
  const fetch = fetchCode(guestFetch, limits);
  const shared = assembleRegistry({ db, sandbox, builder: builderOf(options), limits, fetch, log, role });
  const { components, registry, imports } = shared;
  const resolveAuth = connected.auth.resolve;
  const componentProps = createComponentProps({
    ...runs.context,
    sql: db.sql,
    components,
    limits,
    sealer,
    resolveAuth,
  });
  const sourceParts = {
    db,
    components,
    additionalProps: componentProps.additionalProps,
    limits,
    sealer,
    runTask: (task: RunTask) => runTask(runs.context, task),
    forget: changes.forget,
    nodeId: node.id,
    log,
  };
  const stopRecovery = startChangeRecovery({ ...sourceParts, commit: runs.context.commit });
  const stop = () => stopInOrder([stopRecovery, shared.stop]);
  return { components, registry, imports, componentProps, sourceParts, stop };
}

/** What is done beside requests: nothing on a node of the role `api`. */
async function startJobs(options: EngineOptions, { db, databaseUrl }: EngineParts, base: Base) {
  const { log, role } = options;
  if (role === 'api') return async () => undefined;
  const { node, deliverer, runs } = base;
  const { dispatcher } = runs;
  const lanes = await startLanes({ databaseUrl, sql: db.sql, node, dispatcher, deliverer, log });
  const stopRetention = startRetention(retentionOf(options, db.sql));
  return () => stopInOrder([lanes.stop, async () => stopRetention()]);
}

async function answers(sql: Sql): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  );
}

async function stopInOrder(stops: readonly (() => Promise<void>)[]): Promise<void> {
  for (const stop of stops) await stop();
}
