import type { Stop } from '../db/stop-in-reverse.ts';
import { createActiveTenants, LIMITS, type ActiveTenants } from '@headwater/shared';
import { createStarter, type ProcessStarter, type Sandbox, startSandbox } from '@headwater/sandbox-runtime';
import { type AccountRoom, createAccountRoom } from '../accounts/account-room.ts';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import { createMaintenance } from '../cluster/maintain.ts';
import { createHistoryMeter, type HistoryMeter } from '../cluster/retention/history-meter.ts';
import { type NodeLease, startNodeLease } from '../cluster/node-lease.ts';
import { refuseNodePorts } from '../cluster/node-ports.ts';
import { readComponentBundle } from '../components/bundles.sql.ts';
import type { EngineOptions } from '../contract/engine-options.ts';
import type { Log } from '../contract/log.ts';
import type { Database, Sql } from '../db/database.ts';
import { createWatchdog, type Watchdog } from '../db/watchdog.ts';
import type { Egress } from '../egress/egress.ts';
import { createGuestFetch, type GuestFetch } from '../egress/guest-fetch.ts';
import { passTraces } from '../egress/pass-traces.ts';
import { createEngineMetrics, type EngineMetrics } from '../observe/metrics.ts';
import { createRunSpans, type RunSpans } from '../observe/run-spans.ts';
import { createStatMeter, type StatMeter } from '../events/stat-meter.ts';
import { countFetches, countRuns } from '../observe/usage/count-use.ts';
import { createBundles, type HoldBundle } from '../runs/bundles.ts';
import type { Sealer } from '../secrets/seal.ts';
import { createTraceContexts, type TraceContexts } from '../tracing/trace-contexts.ts';
import { egressOf, limitsOf, sandboxOptionsOf } from './parts-from-options.ts';

/** The result of a start: a migrated database and the keys. */
export interface EngineParts {
  db: Database;
  /** As in NodeLeaseOptions. */
  beatSql: Sql;
  databaseUrl: () => string;
  /** Aborted when a stop no longer waits for the database. */
  gaveUp: AbortSignal;
  sealer: Sealer;
  /** As in NodeLeaseOptions. */
  encryptionKeyId?: string;
}

/** The parts that most others need. */
export interface Ground {
  db: Database;
  sql: Sql;
  sealer: Sealer;
  limits: LimitsCache;
  room: AccountRoom;
  activeTenants: ActiveTenants;
  egress: Egress;
  guestFetch: GuestFetch;
  /** Parent of the processes of sandbox and builder. */
  starter: ProcessStarter;
  sandbox: Sandbox;
  node: NodeLease;
  metrics: EngineMetrics;
  /** Counts of accounts' use and work, in memory. */
  meter: StatMeter;
  /** Counts what is written to accounts' history, in memory. */
  historyMeter: HistoryMeter;
  traces: TraceContexts;
  /** Absent: nothing is recorded. */
  spans: RunSpans | undefined;
  watchdog: Watchdog;
  holdBundle: HoldBundle;
  stopPorts: Stop;
  log: Log;
}

export async function startGround(options: EngineOptions, parts: EngineParts): Promise<Ground> {
  const { log } = options;
  const { db, sealer } = parts;
  const { sql } = db;
  const limits = limitsOf(options, sql);
  const egress = egressOf(options, sql);
  const activeTenants = createActiveTenants();
  const starter = await createStarter();
  const meter = createStatMeter(Date.now);
  const sandbox = countRuns(await startSandbox(sandboxOptionsOf(options, starter)), meter);
  const node = await startNode(options, parts);
  const { spans: sink } = options;
  const historyMeter = createHistoryMeter(Date.now);
  const traces = createTraceContexts({ sql, limits, history: historyMeter, sink, log });
  const guestFetch = countFetches(createGuestFetch({ egress, activeTenants }), meter);
  const metrics = createEngineMetrics({ perTenant: options.metricsPerTenant ?? false });
  return {
    db,
    sql,
    sealer,
    limits,
    room: createAccountRoom(limits),
    activeTenants,
    egress,
    guestFetch: passTraces(guestFetch, traces),
    starter,
    sandbox,
    node,
    metrics,
    meter,
    historyMeter,
    traces,
    spans: sink && createRunSpans(sink, traces),
    watchdog: createWatchdog({
      isAway: () => db.away() !== undefined,
      onStuck: metrics.stuck,
      stuckAfterMs: LIMITS.maxCommitMs,
      nowMs: () => performance.now(),
      log,
    }),
    holdBundle: createBundles({
      read: (componentId) => readComponentBundle(sql, componentId),
      maxHeldChars: LIMITS.maxHeldBundleChars,
    }),
    stopPorts: await refuseNodePorts(egress, { sql, nodeId: node.id, log }),
    log,
  };
}

function startNode(
  { role, listeningPorts, log }: EngineOptions,
  { db: { sql }, beatSql, encryptionKeyId }: EngineParts,
): Promise<NodeLease> {
  return startNodeLease({
    sql,
    beatSql,
    role,
    listeningPorts,
    maintain: createMaintenance(sql),
    ...(encryptionKeyId === undefined ? {} : { encryptionKeyId }),
    log,
  });
}
