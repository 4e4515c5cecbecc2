import type { Engine } from '@headwater/engine';
import type { DoorPace } from '../../api/src/door.ts';
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

export interface ServeOptions {
  publicUrl: string;
  port: number;
  log: Log;
  adminKey: string;
  endpointDomain?: string;
  metrics?: HttpMetrics;
  /** Default: nobody waits for others. */
  turns?: AccountTurns;
  pace?: DoorPace;
  /** Default: http, and no proxy. */
  client?: ClientFactsOptions;
}

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
  } = options;
  const app = createApp({ engine, publicUrl, log, metrics, turns, adminKey });
  const server = await startHttpServer({
    app,
    ingest: createIngestHandler({ engine, log, metrics, turns, clientFacts: createClientFacts(client) }),
    isKnownKey: engine.accounts.isKnown,
    hasOthers: turns.hasOthers,
    host: '127.0.0.1',
    port,
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
