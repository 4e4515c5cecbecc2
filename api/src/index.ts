export { createApp } from './app.ts';
export type { App, AppOptions } from './app-options.ts';
export { type AccountTurns, createAccountTurns } from './account-turns.ts';
export { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts';
export { type ClientFactsOptions, createClientFacts } from './ingest/client-facts.ts';
export { createIngestHandler, type IngestHandler, type IngestOptions } from './ingest/ingest-handler.ts';
export type { Log } from './log.ts';
export { createHttpMetrics, type HttpMetrics } from './metrics.ts';
