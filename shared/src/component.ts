import type { ExceededLimit } from './exceeded-limit.ts';

/** Types of a component, read from its code and turned into plain data. */

export type DedupeStrategy = 'unique' | 'greatest' | 'last';
/** A transform changes the requests of a webhook. */
export const COMPONENT_TYPES = ['source', 'action', 'transform'] as const;
export type ComponentType = (typeof COMPONENT_TYPES)[number];
export type HookName = 'deploy' | 'activate' | 'deactivate';

/**
 * A prop as the API shows it in `configurable_props`: the author's definition plus its name;
 * functions are left out.
 */
export interface PropDefinition {
  name: string;
  /** `string`, `integer[]`, `$.interface.http`, `$.service.db`, `app` … */
  type: string;
  label?: string;
  description?: string;
  optional?: boolean;
  default?: unknown;
  secret?: boolean;
  min?: number;
  max?: number;
  /** `$.interface.http`: the component answers the client itself. */
  customResponse?: boolean;
  /** Static choices, or true where the component computes them. */
  options?: unknown;
  [extra: string]: unknown;
}

/** Result of loading a component. */
export interface ComponentDescription {
  name: string;
  version: string;
  key?: string;
  type: ComponentType;
  description?: string;
  dedupe?: DedupeStrategy;
  hooks: HookName[];
  props: PropDefinition[];
  /** A method computes further props from the configuration; see the entry `additional-props`. */
  hasAdditionalProps: boolean;
}

/** The event that `run` gets when a request arrives at an HTTP interface. */
export interface HttpEvent {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  url: string;
  rawQuery: string;
  /** Text of the body as it was sent. */
  bodyRaw: string;
  body: unknown;
  /** The body is not UTF-8: `bodyRaw` is the base64 of its bytes. */
  isBase64Encoded?: true;
}

/** The event that `run` gets when a timer fires; `timestamp` in epoch seconds. */
export interface TimerEvent {
  timestamp: number;
  /** Null where the timer has a cron expression. */
  interval_seconds: number | null;
  cron?: string;
  timezone?: string;
}

/**
 * Value of a prop in one run: plain values unchanged, interfaces and services as data from which
 * the guest builds them.
 */
export type RunProp =
  | { kind: 'value'; value: unknown }
  | { kind: 'http'; endpoint: string }
  | { kind: 'timer'; intervalSeconds?: number; cron?: string; timezone?: string }
  | { kind: 'db' }
  /** `auth`: what the component reads as `$auth`. */
  | { kind: 'app'; app: string; auth: Record<string, unknown> }
  /** `id`: `ds_…`, the store that is configured; the host answers for no other one. */
  | { kind: 'data-store'; id: string }
  /** `request`: the configured value of an http_request prop. */
  | { kind: 'http-request'; request: unknown }
  /**
   * Only in a step: a value with `{{…}}` in its strings, at any depth. The isolate evaluates it
   * right before the run. `type`: the prop's type, if the component does not define it.
   */
  | { kind: 'template'; value: unknown; type?: string };

/**
 * One `this.$emit`, as it leaves the sandbox. `data` is JSON text and is never parsed on the way to
 * the receiver.
 */
export interface EmittedEvent {
  data: string;
  id?: string | number;
  /** Channel; absent is the default channel. */
  name?: string;
  summary?: string;
  /** Epoch milliseconds given by the author. */
  ts?: number;
  /** Epoch milliseconds at which `$emit` was called: the order of events without `ts`. */
  emittedAtMs: number;
}

/**
 * Size of an event. Ids and summaries count, because ten thousand empty events with long ones are a
 * large run.
 */
export function eventChars({ data, id, name, summary }: EmittedEvent): number {
  return data.length + String(id ?? '').length + (name?.length ?? 0) + (summary?.length ?? 0);
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Limits that no run fails for: its log is cut to them. */
export type LogLimitName = 'maxLogLinesPerRun' | 'maxLogLineBytes';

export interface LogLine {
  atMs: number;
  level: LogLevel;
  message: string;
  /**
   * Limit of a cut line (`maxLogLineBytes`; `used`: its original bytes, at least). The last line
   * stands for dropped lines (`maxLogLinesPerRun`).
   */
  limit?: ExceededLimit<LogLimitName>;
}

/** Response of `respond`. `body` has the bytes that are sent. */
export interface HttpResponse {
  status: number;
  /** `set-cookie` in lower case, with one text for each cookie: they cannot be joined. */
  headers: Record<string, string | string[]>;
  body: Uint8Array;
}
