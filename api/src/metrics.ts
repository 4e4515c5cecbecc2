import type { Engine } from '@headwater/engine';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { TelemetryCounts } from './telemetry/start-telemetry.ts';
import type { WorkersStatus } from './workers/messages.ts';

/**
 * Figures of the HTTP side. Labels are routes, methods and statuses: never an id, a key or a
 * tenant.
 */
export interface HttpMetrics {
  requestDone(method: string, route: string, status: number, durationMs: number): void;
  ingestDone(status: number, durationMs: number): void;
  /** Adds the counts of spans that are sent to a collector. */
  watchTelemetry(counts: () => TelemetryCounts): void;
  /** Prometheus text, with the figures of the process. */
  text(): Promise<string>;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A method that a client made up would make a new time series. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

const ALONE: WorkersStatus = { wanted: 1, up: 1, restarts: 0 };

/** `workers`: of this machine. Default: one, and it is up. */
export function createHttpMetrics(workers: () => WorkersStatus = () => ALONE): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addWorkerFigures(registry, workers);
  const requests = new Histogram({
    name: 'headwater_api_request_duration_seconds',
    help: 'Requests to the REST API, by route, method and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const ingest = createIngestFigures(registry);
  return {
    requestDone(method, route, status, durationMs) {
      requests.observe({ method: knownMethod(method), route, status }, durationMs / 1000);
    },
    ingestDone: ingest.done,
    watchTelemetry: (counts) => addTelemetryFigures(registry, counts),
    text: () => registry.metrics(),
  };
}

/** Prometheus text of the whole node. */
export async function allMetrics(engine: Pick<Engine, 'metrics'>, http: Pick<HttpMetrics, 'text'>): Promise<string> {
  const [ofEngine, ofHttp] = await Promise.all([engine.metrics(), http.text()]);
  return `${ofEngine.trimEnd()}\n${ofHttp}`;
}

function addWorkerFigures(registry: Registry, workers: () => WorkersStatus): void {
  const registers = [registry];
  // prom-client keeps them in the registry and calls collect when the text is read.
  void new Gauge({
    name: 'headwater_workers_up',
    help: 'Workers of this machine that serve.',
    registers,
    collect() {
      this.set(workers().up);
    },
  });
  void new Counter({
    name: 'headwater_worker_restarts_total',
    help: 'Workers of this machine that ended by themselves and were started again.',
    registers,
    collect() {
      this.reset();
      this.inc(workers().restarts);
    },
  });
}

function addTelemetryFigures(registry: Registry, counts: () => TelemetryCounts): void {
  void new Counter({
    name: 'headwater_telemetry_spans_total',
    help: 'Spans by outcome: sent to the collector, or dropped.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      const { sent, dropped } = counts();
      this.inc({ outcome: 'sent' }, sent);
      this.inc({ outcome: 'dropped' }, dropped);
    },
  });
}

/**
 * Endpoints are the hot path: counts are kept in a plain map and given to the registry when it is
 * read.
 */
function createIngestFigures(registry: Registry) {
  const counts = new Map<number, number>();
  const duration = new Histogram({
    name: 'headwater_ingest_duration_seconds',
    help: 'From the request at an endpoint to its answer.',
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const counter = new Counter({
    name: 'headwater_ingest_requests_total',
    help: 'Requests at endpoints, by the status they were answered with.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      counter.reset();
      for (const [status, count] of counts) counter.inc({ status }, count);
    },
  });
  return {
    done(status: number, durationMs: number): void {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      duration.observe(durationMs / 1000);
    },
  };
}
