import { createWatchdog, type Database, type Sql, type Stop, type Watchdog } from '../db/index.ts';
import { createActiveTenants, LIMITS, type ActiveTenants } from '@headwater/shared';
import { createStarter, type ProcessStarter, type Sandbox, startSandbox } from '@headwater/sandbox-runtime';
import { type AccountRoom, createAccountRoom, type LimitsCache } from '../accounts/index.ts';
import {
  createHistoryMeter,
  createMaintenance,
  type HistoryMeter,
  type NodeLease,
  refuseNodePorts,
  startNodeLease,
} from '../cluster/index.ts';
import { readComponentBundle } from '../components/index.ts';
import type { EngineOptions, Log } from '../contract/index.ts';
import { createGuestFetch, type Egress, type GuestFetch, passTraces } from '../egress/index.ts';
import {
  countFetches,
  countRuns,
  createEngineMetrics,
  createRunSpans,
  type EngineMetrics,
  type RunSpans,
} from '../observe/index.ts';
import { createStatMeter, type StatMeter } from '../events/index.ts';
import { createBundles, type HoldBundle } from '../runs/index.ts';
import type { Sealer } from '../secrets/index.ts';
import { createTraceContexts, type TraceContexts } from '../tracing/index.ts';
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
