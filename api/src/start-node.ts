import { type Engine, type StartedEngine, startEngine } from '@headwater/engine';
import type { Logger } from 'pino';
import { createActiveTenants, LIMITS } from '@headwater/shared';
import { availableParallelism } from 'node:os';
import { createApp } from './app.ts';
import { createAccountTurns } from './account-turns.ts';
import type { Config } from './config.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { createClientFacts } from './ingest/client-facts.ts';
import { createIngestHandler } from './ingest/ingest-handler.ts';
import { isAdminKey } from './middleware/authenticate.ts';
import { allMetrics, createHttpMetrics, type HttpMetrics } from './metrics.ts';
import type { Telemetry } from './telemetry/start-telemetry.ts';
import { watchThreadLoad } from './thread-load.ts';
import { createUnfinishedBodies } from './unfinished-bodies.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { basePathOf } from './web/base-path.ts';
import { readWebFiles, WEB_FOLDER } from './web/static-files.ts';
import type { Workers } from './workers/join-workers.ts';

export interface RunningNode {
  firstAccount: StartedEngine['firstAccount'];
  /** Stops intake, lets requests in flight finish, then stops the engine. Idempotent. */
  stop(options?: StopOptions): Promise<void>;
}

interface StopOptions {
  /** Another worker serves in its place: `/readyz` goes on to answer 200. Default false. */
  isReplaced?: boolean;
}

export interface StartNodeOptions {
  config: Config;
  log: Logger;
  /** As for startEngine. */
  onAccount?: (account: StartedEngine['firstAccount']) => void;
  /** Those of this machine, with this node. Default: it is alone. */
  workers?: Workers;
}

/**
 * Time for requests during shutdown, and for runs too. The rest of the shutdown is for commits,
 * deliveries and the database.
 */
const REQUEST_GRACE_MS = LIMITS.shutdownMs * 0.9;
/** Clients that still wait are told before their connections are cut. */
const ANSWER_GRACE_MS = REQUEST_GRACE_MS - 200;

/** Starts what the role says. Rejects with what is wrong; then nothing is left running. */
export async function startNode({ config, log, onAccount, workers }: StartNodeOptions): Promise<RunningNode> {
  const listeningPorts = () => (servesHttp(config) ? [config.port] : []);
  const sharesEmbedded = config.worker?.sharesEmbedded === true;
  const telemetry = await telemetryOf(config, log);
  const spans = telemetry?.spans;
  const given = { ...config, sharesEmbedded, log, listeningPorts, ...(spans === undefined ? {} : { spans }) };
  const { engine, firstAccount } = await startEngine(given, onAccount);
  const state = { stopping: false };
  const isStopping = () => state.stopping;
  const metrics = createHttpMetrics(workers?.status);
  if (telemetry !== undefined) {
    metrics.watchTelemetry(telemetry.counts);
    telemetry.pushMetrics(() => allMetrics(engine, metrics));
  }
  const serving = serve(config, engine, { log, metrics, isStopping, ...(workers === undefined ? {} : { workers }) });
  const server = await serving.catch(async (cause: unknown) => {
    await engine.stop();
    throw cause;
  });
  let stopped: Promise<void> | undefined;
  return {
    firstAccount,
    stop({ isReplaced = false } = {}) {
      state.stopping = !isReplaced;
      stopped ??= stopAll(server, engine, { isReplaced, telemetry });
      return stopped;
    },
  };
}

/** Loaded only where there is a collector: it costs a node nothing else. */
async function telemetryOf({ telemetry }: Config, log: Logger): Promise<Telemetry | undefined> {
  if (telemetry === undefined) return undefined;
  const { startTelemetry } = await import('./telemetry/start-telemetry.ts');
  return startTelemetry(telemetry, log);
}

async function stopAll(
  server: HttpServer | undefined,
  engine: Engine,
  { isReplaced, telemetry }: { isReplaced: boolean; telemetry: Telemetry | undefined },
): Promise<void> {
  // Streams and waits do not end by themselves.
  engine.streams.end();
  engine.ingest.endWaits();
  engine.drain();
  const endAnswers = setTimeout(() => engine.ingest.endAnswers(), ANSWER_GRACE_MS);
  await server?.stop(REQUEST_GRACE_MS, isReplaced);
  clearTimeout(endAnswers);
  try {
    await engine.stop();
  } finally {
    await telemetry?.stop();
  }
}

// A node that only runs lanes has nothing to serve, unless someone wants to watch it.
function servesHttp(config: Config): boolean {
  return config.role !== 'engine' || config.portIsSet;
}

interface ServeOptions {
  log: Logger;
  metrics: HttpMetrics;
  isStopping: () => boolean;
  workers?: Workers;
}

async function serve(
  config: Config,
  engine: Engine,
  { log, metrics, isStopping, workers }: ServeOptions,
): Promise<HttpServer | undefined> {
  if (!servesHttp(config)) return undefined;
  const { host, port, publicUrl, adminKey, endpointDomain, role } = config;
  const { busyRequestsPerSecond = LIMITS.busyRequestsPerSecond } = config;
  // The machine's processors are shared with the other workers.
  const processors = Math.max(1, availableParallelism() / (config.workers ?? 1));
  const activeTenants = createActiveTenants();
  const turns = createAccountTurns({
    activeTenants,
    nowMs: () => performance.now(),
    bytesPerSecond: LIMITS.largeBodyBytesPerSecond * processors,
    requestsPerSecond: busyRequestsPerSecond * processors,
    isBusy: watchThreadLoad(),
  });
  const unread = createUnreadAnswers();
  const unfinished = createUnfinishedBodies(activeTenants);
  const clientFacts = createClientFacts({
    scheme: publicUrl.startsWith('https:') ? 'https' : 'http',
    trustedProxies: config.trustedProxies ?? [],
  });
  const probesOnly = role === 'engine';
  const basePath = basePathOf(publicUrl);
  const web = probesOnly ? undefined : readWebFiles(WEB_FOLDER, basePath);
  const { corsOrigins = [], portalFrameOrigins = [] } = config;
  const app = createApp({
    engine,
    publicUrl,
    corsOrigins,
    portalFrameOrigins,
    log,
    metrics,
    turns,
    unread,
    unfinished,
    clientFacts,
    isStopping,
    probesOnly,
    ...(web === undefined ? {} : { web }),
    ...(workers === undefined ? {} : { workers }),
    ...(adminKey === undefined ? {} : { adminKey }),
  });
  return startHttpServer({
    app,
    corsOrigins,
    hasOthers: turns.hasOthers,
    isKnownKey: (key) => engine.accounts.isKnown(key) || isAdminKey(adminKey, key),
    host,
    port,
    basePath,
    sessionKey: (token) => engine.sessions.keyOf(token),
    ...(probesOnly
      ? {}
      : { ingest: createIngestHandler({ engine, log, metrics, turns, unread, unfinished, clientFacts }) }),
    ...(endpointDomain === undefined ? {} : { endpointDomain }),
  });
}
