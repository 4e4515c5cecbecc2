import path from 'node:path';
import { type Builder, createBuilder, type FetchRequest, startSandbox } from '@headwater/sandbox-runtime';
import { createAccounts } from './accounts/accounts.ts';
import { createComponents } from './components/components.ts';
import type { Engine, Principal } from './contract.ts';
import { createDeliverer } from './delivery/deliverer.ts';
import { createRetryPolicy } from './delivery/retry-policy.ts';
import { createSubscriptions } from './delivery/subscriptions.ts';
import { createWebhooks } from './delivery/webhooks.ts';
import { createEgress, type Egress } from './egress/egress.ts';
import { createGuestFetch, type GuestFetch } from './egress/guest-fetch.ts';
import { endpointUrls } from './endpoint-urls.ts';
import type { EngineOptions } from './engine-options.ts';
import { createIngest } from './ingest.ts';
import { startLanes } from './jobs/lanes.ts';
import { createEngineMetrics } from './metrics.ts';
import { maintain } from './nodes/maintain.ts';
import { startNodeLease } from './nodes/node-lease.ts';
import { assembleRuns, type RunParts, type Runs } from './run/assemble-runs.ts';
import { runTask } from './run/run-invocation.ts';
import type { Sealer } from './secrets/seal.ts';
import { createSources } from './sources/sources.ts';
import type { Database, Sql } from './store/database.ts';
import { SOURCE_CHANGED_CHANNEL } from './store/notify-changed.ts';

export interface EngineParts {
  db: Database;
  databaseUrl: string;
  sealer: Sealer;
}

const DEFAULT_POSTGRES_PORT = 5432;

/** Assembles a node on a migrated database and starts it. */
export async function assembleEngine(
  options: EngineOptions,
  { db, databaseUrl, sealer }: EngineParts,
): Promise<Engine> {
  const { log, role } = options;
  const { sql } = db;
  const egress = egressOf(options, databaseUrl);
  const guestFetch = createGuestFetch({ egress });
  const sandbox = await startSandbox({ log: (level, message, fields) => log[level](fields, message) });
  const node = await startNodeLease({ sql, role, log, maintain: () => maintain(sql, log) });
  const retryPolicy = createRetryPolicy(retryOptionsOf(options));
  const metrics = createEngineMetrics();
  const onAttempt = metrics.attemptEnded;
  const deliverer = createDeliverer({ db, nodeId: node.id, sealer, egress, retryPolicy, onAttempt, log });
  const propSealer = { open: sealer.open, seal: sealer.seal, endpointUrl: endpointUrls(options) };
  const runParts: RunParts = { sql, node, sandbox, guestFetch, deliverer, opener: propSealer, metrics, log };
  const runs = assembleRuns(runParts);
  const { dispatcher } = runs;
  metrics.watch({ dispatcher, deliverer, sandbox });
  const ingest = createIngest({ sql, node, dispatcher });
  const changes = await followChanges(sql, runs, ingest);
  const builder = builderOf(options);
  const components = createComponents({ db, sandbox, builder, fetch: fetchCode(guestFetch) });
  const lanes =
    role === 'api'
      ? undefined
      : await startLanes({ databaseUrl, sql, node, dispatcher, deliverer, nowMs: Date.now, log });
  let stopping: Promise<void> | undefined;
  return {
    accounts: createAccounts({ db }),
    components,
    sources: createSources({
      db,
      components,
      sealer: propSealer,
      runTask: (task) => runTask(runs.context, task),
      forget: changes.forget,
      log,
    }),
    webhooks: createWebhooks({ db, sealer }),
    subscriptions: createSubscriptions({ db }),
    ingest,
    ready: async () => stopping === undefined && (await answers(sql)),
    metrics: metrics.text,
    stop() {
      // Intake first, then what is under way, then what it needs.
      stopping ??= stopInOrder([
        async () => lanes?.stop(),
        builder.stop,
        dispatcher.stop,
        runs.committer.drain,
        deliverer.stop,
        sandbox.stop,
        guestFetch.stop,
        changes.stop,
        node.stop,
      ]);
      return stopping;
    },
  };
}

function fetchCode(guestFetch: GuestFetch) {
  return (who: Principal, request: FetchRequest, signal: AbortSignal) =>
    guestFetch.fetch(who.accountId, request, signal);
}

function builderOf({ dataDir, npmRegistry, networkEnvironment, log }: EngineOptions): Builder {
  return createBuilder({
    cacheDir: path.join(dataDir, 'package-cache'),
    ...(networkEnvironment === undefined ? {} : { environment: networkEnvironment }),
    ...(npmRegistry === undefined ? {} : { registryUrl: npmRegistry }),
    log: (level, message, fields) => log[level](fields, message),
  });
}

function egressOf(options: EngineOptions, databaseUrl: string): Egress {
  const { hostname, port } = new URL(databaseUrl);
  const database = { port: Number(port || DEFAULT_POSTGRES_PORT), host: hostname };
  // The database's port is refused on this machine as well, under whatever name its host is known.
  const denied = [database, { port: database.port }];
  return createEgress({
    allow: options.egressAllow,
    deniedPorts: () => [...denied, ...options.listeningPorts().map((own) => ({ port: own }))],
  });
}

function retryOptionsOf({ retryScheduleSeconds }: EngineOptions): { scheduleSeconds?: readonly number[] } {
  return retryScheduleSeconds === undefined ? {} : { scheduleSeconds: retryScheduleSeconds };
}

interface Changes {
  forget: (sourceId: string) => void;
  stop: () => Promise<void>;
}

/** Drops cached sources and routes when any node has changed the source. */
async function followChanges(
  sql: Sql,
  { runtimes }: Runs,
  ingest: { forgetSource(sourceId: string): void; forgetAll(): void },
): Promise<Changes> {
  const forget = (sourceId: string) => {
    runtimes.forget(sourceId);
    ingest.forgetSource(sourceId);
  };
  // After every (re)connection of the listener: changes may have been missed while it was away.
  const forgetAll = () => {
    runtimes.forgetAll();
    ingest.forgetAll();
  };
  const listener = await sql.listen(SOURCE_CHANGED_CHANNEL, forget, forgetAll);
  return { forget, stop: () => listener.unlisten() };
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
