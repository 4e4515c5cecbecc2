import type { LogLimit } from '../follow/log-limit.ts';

/** Members of `GET /v1/traces/{id}` that the CLI reads. */
export interface Trace {
  id: string;
  truncated: boolean;
  runs: TraceRun[];
}

export interface TraceRun {
  type: 'run' | 'execution';
  id: string;
  emitter_id: string;
  emitter_name: string | null;
  kind: string | null;
  status: string;
  /** Outcome in words. */
  explanation: string;
  /** Epoch milliseconds. */
  invoked_at: number | null;
  queued_ms: number | null;
  ran_ms: number | null;
  error: TraceError | null;
  logs: TraceLine[];
  steps: TraceStep[];
  events: TraceEvent[];
  deduped: { count: number } | null;
  sends: { id: string; kind: string; status: string; attempts: TraceAttempt[] }[];
}

export interface TraceStep {
  namespace: string;
  status: string;
  runs: number;
  started_at: number;
  ended_at: number;
  error: TraceError | null;
  summary: string | null;
  /** Absent in answers of older servers. */
  props?: Record<string, unknown> | null;
  logs: TraceLine[];
}

export interface TraceEvent {
  emit_id: string;
  /** '' is the default channel. */
  name: string;
  summary: string | null;
  listeners: TraceListener[];
}

export interface TraceListener {
  listener_id: string;
  listener_name: string | null;
  outcome: 'delivery' | 'run' | 'missed';
  delivery?: { status: string; next_attempt_at: number | null; attempts: TraceAttempt[] };
  run?: TraceRun;
  reason?: string;
  /**
   * The condition of a filter that did not match, as JSON text. Absent in answers of older servers.
   */
  clause?: string | null;
}

export interface TraceAttempt {
  status_code?: number;
  error?: string;
  duration_ms: number;
}

export interface TraceLine {
  level: string;
  message: string;
  limit?: LogLimit;
}

interface TraceError {
  code: string;
  message: string;
}
