import { createActiveTenants, LIMITS } from '@headwater/shared';
import { createStarter, startSandbox } from '@headwater/sandbox-runtime';
import { createAccountRoom } from '../accounts/account-room.ts';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import { assembleApps } from './assemble-apps.ts';
import { joinInboxes } from '../outbox/transports/webhook/inbox.ts';
import { createDeliverer, type DelivererOptions } from '../outbox/deliveries/deliverer.ts';
import { createTransforms } from '../transforms/run-transform.ts';
import { createRetryPolicy } from '../outbox/retry-policy.ts';
import { createGuestFetch } from '../egress/guest-fetch.ts';
import { endpointUrls } from '../ingest/endpoint-urls.ts';
import { createOpenEnvironment } from '../environment/open-environment.ts';
import type { EngineOptions } from '../contract/engine-options.ts';
import { createEngineMetrics, type EngineMetrics } from '../observe/metrics.ts';
import { createMaintenance } from '../cluster/maintain.ts';
import { startNodeLease } from '../cluster/node-lease.ts';
import { refuseNodePorts } from '../cluster/node-ports.ts';
import { egressOf, limitsOf, retryOptionsOf, sandboxOptionsOf } from './parts-from-options.ts';
import { startAccountCounts } from './start-account-counts.ts';
import { createSampleReceiver } from '../outbox/sample-receiver/sample-receiver.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Database, Sql } from '../db/database.ts';
import { readLastPositions } from '../observe/streams/read-stream.sql.ts';
import { createStreams } from '../observe/streams/streams.ts';
import { createWatches } from '../events/watches.ts';
import { createTunnelInbox } from '../outbox/tunnels/tunnel-inbox.ts';
import { createWatchdog } from '../db/watchdog.ts';
import { createBundles } from '../runs/bundles.ts';
import { readComponentBundle } from '../components/read-component-bundle.sql.ts';

export interface EngineParts {
  db: Database;
  /** As in NodeLeaseOptions. */
  beatSql: Sql;
  databaseUrl: () => string;
  sealer: Sealer;
  /** As in NodeLeaseOptions. */
  encryptionKeyId?: string;
}

/** The parts that everything else needs. */
export async function startGround(options: EngineOptions, { db, beatSql, sealer, encryptionKeyId }: EngineParts) {
  const { log, role } = options;
  const { sql } = db;
  const limits = limitsOf(options, sql);
  const room = createAccountRoom(limits);
  const egress = egressOf(options, sql);
  const activeTenants = createActiveTenants();
  const guestFetch = createGuestFetch({ egress, activeTenants });
  const starter = await createStarter();
  const sandbox = await startSandbox(sandboxOptionsOf(options, starter));
  const keyOption = encryptionKeyId === undefined ? {} : { encryptionKeyId };
  const lease = { sql, beatSql, role, log, listeningPorts: options.listeningPorts, ...keyOption };
  const node = await startNodeLease({ ...lease, maintain: createMaintenance(sql) });
  const stopPorts = await refuseNodePorts(egress, { sql, nodeId: node.id, log });
  const metrics = createEngineMetrics();
  const watchdog = createWatchdog({
    isAway: () => db.away() !== undefined,
    onStuck: metrics.stuck,
    stuckAfterMs: LIMITS.maxCommitMs,
    nowMs: () => performance.now(),
    log,
  });
  const counts = await startAccountCounts(options, { sql, limits, metrics });
  const nodeId = node.id;
  const onUnrecorded = () => watchdog.tell('attempts of deliveries', 'attempts of deliveries cannot be recorded');
  const holdBundle = createHoldBundle(sql);
  const transform = createTransforms({ sandbox, holdBundle, limits, log });
  const delivering = { db, nodeId, sealer, egress, activeTenants, limits, metrics, transform, onUnrecorded };
  const deliveries = assembleDeliveries(options, { ...delivering, ...counts });
  const opener = { ...sealer, endpointUrl: endpointUrls(options) };
  const connected = assembleApps({ sql, sealer, guestFetch, limits }, options);
  const environment = createOpenEnvironment({ sql, sealer });
  const { watches, streams, stopStreams } = assembleStreams(sql, limits, log);
  return {
    sql,
    ...counts,
    ...deliveries,
    sealer,
    limits,
    room,
    egress,
    guestFetch,
    starter,
    sandbox,
    holdBundle,
    transform,
    node,
    stopPorts,
    metrics,
    activeTenants,
    opener,
    connected,
    environment,
    watches,
    streams,
    stopStreams,
    watchdog,
    log,
  };
}

type Delivering = Pick<
  DelivererOptions,
  'db' | 'nodeId' | 'sealer' | 'egress' | 'activeTenants' | 'history' | 'stats' | 'transform' | 'onUnrecorded'
>;

function assembleDeliveries(
  options: EngineOptions,
  { metrics, limits, ...parts }: Delivering & { metrics: EngineMetrics; limits: LimitsCache },
) {
  const { publicUrl, log } = options;
  const retryPolicy = createRetryPolicy(retryOptionsOf(options));
  const sampleReceiver = createSampleReceiver({
    sql: parts.db.sql,
    sealer: parts.sealer,
    publicUrl,
    nowMs: Date.now,
  });
  const tunnelInbox = createTunnelInbox(parts.db.sql, publicUrl);
  const deliverer = createDeliverer({
    ...parts,
    retryPolicy,
    onAttempt: metrics.attemptEnded,
    inbox: joinInboxes([sampleReceiver, tunnelInbox]),
    accountLimits: limits,
    log,
  });
  return { retryPolicy, sampleReceiver, tunnelInbox, deliverer };
}

function assembleStreams(sql: Sql, limits: LimitsCache, log: EngineOptions['log']) {
  const watches = createWatches({
    readLast: (ids) => readLastPositions(sql, ids),
    onError: (err) => log.warn({ err }, 'what streams follow could not be looked at'),
  });
  const streams = createStreams({ sql, limits, watches });
  const stopStreams = async () => {
    streams.end();
    await watches.stop();
  };
  return { watches, streams, stopStreams };
}

const createHoldBundle = (sql: Sql) =>
  createBundles({
    read: (componentId) => readComponentBundle(sql, componentId),
    maxHeldChars: LIMITS.maxHeldBundleChars,
  });
