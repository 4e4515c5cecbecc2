import type { Engine } from '@headwater/engine';
import type { EntryPace } from '../../api/src/entry-pacer.ts';
import {
  type AccountTurns,
  type App,
  type ClientFactsOptions,
  createAccountTurns,
  createApp,
  createClientFacts,
  createHttpMetrics,
  createIngestHandler,
  type HttpMetrics,
  type HttpServer,
  type Log,
  startHttpServer,
} from '../../api/src/index.ts';
import { basePathOf } from '../../api/src/web/base-path.ts';
import { readWebFiles, WEB_FOLDER } from '../../api/src/web/static-files.ts';

export interface ServeOptions {
  publicUrl: string;
  port: number;
  log: Log;
  adminKey: string;
  endpointDomain?: string;
  metrics?: HttpMetrics;
  /** Default: nobody waits for others. */
  turns?: AccountTurns;
  pace?: EntryPace;
  /** Default: http, and no proxy. */
  client?: ClientFactsOptions;
  /** Serves the built web UI. Default false. */
  web?: boolean;
  /** As in AppOptions. */
  portalFrameOrigins?: readonly string[];
  corsOrigins?: readonly string[];
}

const CLOSING_IDLE_MS = 100;

/** Everything that a node serves over HTTP, on loopback. */
export async function serveEngine(engine: Engine, options: ServeOptions): Promise<{ app: App; server: HttpServer }> {
  const {
    publicUrl,
    port,
    log,
    adminKey,
    endpointDomain,
    metrics = createHttpMetrics(),
    turns = freeTurns(),
    client = { scheme: 'http', trustedProxies: [] },
    portalFrameOrigins = [],
    corsOrigins = [],
  } = options;
  const basePath = basePathOf(publicUrl);
  const web = options.web === true ? readWebFiles(WEB_FOLDER, basePath) : undefined;
  const app = createApp({
    engine,
    publicUrl,
    log,
    metrics,
    turns,
    adminKey,
    portalFrameOrigins,
    corsOrigins,
    clientFacts: createClientFacts(client),
    ...(web === undefined ? {} : { web }),
  });
  const server = await startHttpServer({
    app,
    corsOrigins,
    ingest: createIngestHandler({ engine, log, metrics, turns, clientFacts: createClientFacts(client) }),
    isKnownKey: engine.accounts.isKnown,
    hasOthers: turns.hasOthers,
    host: '127.0.0.1',
    port,
    // Idle connections of browsers and commands, at the end of a file.
    patience: { closingIdleMs: CLOSING_IDLE_MS },
    basePath,
    sessionKey: (token) => engine.sessions.keyOf(token),
    ...(endpointDomain === undefined ? {} : { endpointDomain }),
    ...(options.pace === undefined ? {} : { pace: options.pace }),
  });
  return { app, server };
}

function freeTurns(): AccountTurns {
  return createAccountTurns({
    nowMs: () => performance.now(),
    bytesPerSecond: 1e9,
    requestsPerSecond: 1e9,
    isBusy: () => false,
  });
}
