import path from 'node:path';
import {
  type Builder,
  createBuilder,
  type FetchRequest,
  type SandboxOptions,
  startSandbox,
} from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import { createAccounts } from './accounts/accounts.ts';
import { createLimitsCache, type LimitsCache } from './accounts/limits-cache.ts';
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
import { followChanges } from './follow-changes.ts';
import { createIngest } from './ingest.ts';
import { startLanes } from './jobs/lanes.ts';
import { createEngineMetrics } from './metrics.ts';
import { maintain } from './nodes/maintain.ts';
import { startNodeLease } from './nodes/node-lease.ts';
import { assembleRuns, type RunParts } from './run/assemble-runs.ts';
import { type RunTask, runTask } from './run/run-invocation.ts';
import type { Sealer } from './secrets/seal.ts';
import { createSources } from './sources/sources.ts';
import type { Database, Sql } from './store/database.ts';
import { readAccountLimits } from './store/read-account-limits.ts';

export interface EngineParts {
  db: Database;
  databaseUrl: string;
  sealer: Sealer;
  /** As in NodeLeaseOptions. */
  encryptionKeyId?: string;
}

const DEFAULT_POSTGRES_PORT = 5432;

/** Assembles a node on a migrated database and starts it. */
export async function assembleEngine(
  options: EngineOptions,
  { db, databaseUrl, sealer, encryptionKeyId }: EngineParts,
): Promise<Engine> {
  const { log, role } = options;
  const { sql } = db;
  const limits = limitsOf(options, sql);
  const egress = egressOf(options, databaseUrl);
  const guestFetch = createGuestFetch({ egress });
  const sandbox = await startSandbox(sandboxOptionsOf(options));
  const keyOption = encryptionKeyId === undefined ? {} : { encryptionKeyId };
  const node = await startNodeLease({ sql, role, log, maintain: () => maintain(sql, log), ...keyOption });
  const retryPolicy = createRetryPolicy(retryOptionsOf(options));
  const metrics = createEngineMetrics();
  const onAttempt = metrics.attemptEnded;
  const deliverer = createDeliverer({ db, nodeId: node.id, sealer, egress, retryPolicy, onAttempt, log });
  const propSealer = { open: sealer.open, seal: sealer.seal, endpointUrl: endpointUrls(options) };
  const runParts: RunParts = { sql, node, sandbox, guestFetch, limits, deliverer, opener: propSealer, metrics, log };
  const runs = assembleRuns(runParts);
  const { dispatcher } = runs;
  metrics.watch({ dispatcher, deliverer, sandbox });
  const ingest = createIngest({ sql, node, dispatcher, limits });
  const changes = await followChanges(sql, { runtimes: runs.runtimes, ingest, limits, log });
  const builder = builderOf(options);
  const components = createComponents({ db, sandbox, builder, limits, fetch: fetchCode(guestFetch, limits) });
  const run = (task: RunTask) => runTask(runs.context, task);
  const sourceParts = { db, components, limits, sealer: propSealer, runTask: run, forget: changes.forget, log };
  const laneParts = { databaseUrl, sql, node, dispatcher, deliverer, nowMs: Date.now, log };
  const lanes = role === 'api' ? undefined : await startLanes(laneParts);
  let stopping: Promise<void> | undefined;
  return {
    accounts: createAccounts({ db, limits }),
    components,
    sources: createSources(sourceParts),
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

function fetchCode(guestFetch: GuestFetch, limits: LimitsCache) {
  return async ({ accountId: id }: Principal, request: FetchRequest, signal: AbortSignal) =>
    guestFetch.fetch({ id, limits: await limits.get(id) }, request, signal);
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
  const { egressProxy: proxy } = options;
  const { hostname, port } = new URL(databaseUrl);
  const database = { port: Number(port || DEFAULT_POSTGRES_PORT), host: hostname };
  // The database's port is refused on this machine as well, under whatever name its host is known.
  const denied = [database, { port: database.port }];
  return createEgress({
    allow: options.egressAllow,
    ...(proxy === undefined ? {} : { proxy }),
    deniedPorts: () => [...denied, ...options.listeningPorts().map((own) => ({ port: own }))],
  });
}

function retryOptionsOf({ retryScheduleSeconds }: EngineOptions): { scheduleSeconds?: readonly number[] } {
  return retryScheduleSeconds === undefined ? {} : { scheduleSeconds: retryScheduleSeconds };
}

function sandboxOptionsOf(options: EngineOptions): SandboxOptions {
  return {
    // The dispatcher keeps to what each account may run.
    maxRunsPerProcess: ACCOUNT_LIMITS.maxRunsPerAccount.max,
    ...options.sandbox,
    log: (level, message, fields) => options.log[level](fields, message),
  };
}

function limitsOf({ limitDefaults = {} }: EngineOptions, sql: Sql): LimitsCache {
  return createLimitsCache({ read: (accountId) => readAccountLimits(sql, accountId), defaults: limitDefaults });
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
