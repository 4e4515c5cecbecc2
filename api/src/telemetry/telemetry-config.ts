import { z } from '@hono/zod-openapi';
import { isHttpUrl, splitList } from '../config-values.ts';

/** The collectors of spans and metrics, from the variables that OpenTelemetry defines. */
export interface TelemetryConfig {
  serviceName: string;
  /** Attributes of the resource besides its name. */
  resource: Record<string, string>;
  /** Absent: no spans are made. */
  traces?: SignalConfig & { sampler: SamplerConfig; maxQueue: number; maxBatch: number; delayMs: number };
  /** Absent: metrics are not pushed. `/metrics` has them in any case. */
  metrics?: SignalConfig & { intervalMs: number };
}

export interface SignalConfig {
  url: string;
  /** May hold a key. */
  headers: Record<string, string>;
  timeoutMs: number;
}

export interface SamplerConfig {
  /** Follows the caller where there is one. */
  isParentBased: boolean;
  /** Share of traces, from 0 to 1. */
  ratio: number;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const endpoint = () =>
  z.string().refine(isHttpUrl, 'must be an http or https URL without a user name, query or fragment').optional();
const headers = () => z.string().transform(parsePairs).optional();
const milliseconds = (max = 3_600_000) => count(1, max);
const exporter = () => z.enum(['otlp', 'none'], 'must be otlp or none').optional();
const protocol = () =>
  z
    .enum(['http/json', 'http/protobuf'], 'must be http/json or http/protobuf: this server does not speak grpc')
    .optional();

function count(min: number, max: number) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max,
      `must be a whole number from ${min} to ${max}`,
    )
    .transform(Number)
    .optional();
}

/**
 * The variables, by https://opentelemetry.io/docs/specs/otel/protocol/exporter. The protocol is
 * read so that a wrong one is told: requests are JSON, which OTLP receivers take over HTTP.
 */
export const TELEMETRY_VARIABLES = {
  OTEL_SDK_DISABLED: z.enum(['true', 'false'], 'must be true or false').optional(),
  OTEL_SERVICE_NAME: z.string().max(256).optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().transform(parsePairs).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint(),
  OTEL_EXPORTER_OTLP_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol(),
  OTEL_TRACES_EXPORTER: exporter(),
  OTEL_METRICS_EXPORTER: exporter(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`).optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => text.trim() !== '' && Number(text) >= 0 && Number(text) <= 1, 'must be a number from 0 to 1')
    .transform(Number)
    .optional(),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds(),
  OTEL_BSP_MAX_QUEUE_SIZE: count(1, 1_000_000),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count(1, 10_000),
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds(),
};

const variables = z.object(TELEMETRY_VARIABLES);
type Variables = z.output<typeof variables>;

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_DELAY_MS = 5_000;
const DEFAULT_QUEUE = 2_048;
const DEFAULT_BATCH = 512;
const DEFAULT_INTERVAL_MS = 60_000;

/** Undefined: nothing is to be sent anywhere. */
export function telemetryOf(env: Variables): TelemetryConfig | undefined {
  if (env.OTEL_SDK_DISABLED === 'true') return undefined;
  const traces = env.OTEL_TRACES_EXPORTER === 'none' ? undefined : signalOf(env, 'TRACES', 'v1/traces');
  const metrics = env.OTEL_METRICS_EXPORTER === 'none' ? undefined : signalOf(env, 'METRICS', 'v1/metrics');
  if (traces === undefined && metrics === undefined) return undefined;
  const { 'service.name': named, ...resource } = env.OTEL_RESOURCE_ATTRIBUTES ?? {};
  const maxQueue = env.OTEL_BSP_MAX_QUEUE_SIZE ?? DEFAULT_QUEUE;
  return {
    serviceName: env.OTEL_SERVICE_NAME ?? named ?? 'headwater',
    resource,
    ...(traces && {
      traces: {
        ...traces,
        sampler: samplerOf(env),
        maxQueue,
        maxBatch: Math.min(maxQueue, env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE ?? DEFAULT_BATCH),
        delayMs: env.OTEL_BSP_SCHEDULE_DELAY ?? DEFAULT_DELAY_MS,
      },
    }),
    ...(metrics && { metrics: { ...metrics, intervalMs: env.OTEL_METRIC_EXPORT_INTERVAL ?? DEFAULT_INTERVAL_MS } }),
  };
}

/** The endpoint of a signal is its whole URL; of the common one the path of the signal is part. */
function signalOf(env: Variables, signal: 'TRACES' | 'METRICS', path: string): SignalConfig | undefined {
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ??
    (common === undefined ? undefined : `${common.replace(/\/+$/, '')}/${path}`);
  if (url === undefined) return undefined;
  return {
    url,
    headers: env[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`] ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT ?? DEFAULT_TIMEOUT_MS,
  };
}

function samplerOf({
  OTEL_TRACES_SAMPLER: name = 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: ratio = 1,
}: Variables) {
  const isParentBased = name.startsWith('parentbased_');
  if (name.endsWith('always_on')) return { isParentBased, ratio: 1 };
  return { isParentBased, ratio: name.endsWith('always_off') ? 0 : ratio };
}

/** `a=1,b=2`, percent-encoded, as in the header `baggage`. Entries without `=` are problems. */
function parsePairs(text: string, context: z.RefinementCtx): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const entry of splitList(text)) {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at).trim();
    const value = decoded(entry.slice(at + 1).trim());
    if (at <= 0 || value === undefined || /[\r\n]/.test(name + value))
      // Not what it holds: it may be a key.
      context.addIssue({ code: 'custom', message: 'must be a comma-separated list of name=value, percent-encoded' });
    else pairs[name] = value;
  }
  return pairs;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
