import type {
  AccountLimitName,
  AccountLimits,
  ComponentDescription,
  DedupeStrategy,
  ErrorCode,
  ExceededLimit,
  FieldError,
  HookName,
  RunProp,
} from '@headwater/shared';

/* Types of the seam, which sandbox.ts defines. */

/** Component code made ready to load: one self-contained module. `hash` names the content. */
export interface ComponentBundle {
  code: string;
  sourceMap: string;
  hash: string;
}

export type BundleOutcome = { ok: true; bundle: ComponentBundle } | { ok: false; errors: FieldError[] };

export type DescribeOutcome =
  | { ok: true; description: ComponentDescription }
  /** `limit`: the one that loading it went over. */
  | { ok: false; errors: FieldError[]; limit?: ExceededLimit };

export interface DescribeOptions {
  /**
   * The code is used only as a workflow step. Without a name or version it gets them, and becomes
   * an action.
   */
  stepName?: string | undefined;
  /**
   * The account's memory limit. Loading may use it if it is more than LIMITS.describeMemoryMb; the
   * platform limits its time.
   */
  memoryMb?: number;
}

export type WallLimitName = Extract<AccountLimitName, 'httpRunWallMs' | 'timerRunWallMs' | 'hookWallMs'>;

/** Limits of one run. All are required, so that the caller decides each one. */
export interface RunLimits {
  cpuMs: number;
  wallMs: number;
  /** Which of the account's limits `wallMs` is. */
  wallLimit: WallLimitName;
  memoryMb: number;
  /** Limits of the tenant: sizes and counts of a run's output and requests. */
  account: AccountLimits;
}

export type RunEntry =
  | { kind: 'run'; event: string }
  | { kind: 'hook'; hook: HookName }
  /**
   * The choices of one prop. `page` counts from 0. The result: JSON text of `{ options: [{ label,
   * value }], context? }`.
   */
  | { kind: 'options'; prop: string; page: number; prevContext?: unknown; query?: string }
  /**
   * `previousPropDefs`: JSON text. The result: JSON text of the definitions, as `describe` gives
   * them, in a list.
   */
  | { kind: 'additional-props'; previousPropDefs: string }
  /**
   * `run` of an action, as a step of a workflow. The result is JSON text of its return value;
   * absent: undefined.
   */
  | { kind: 'step'; input: StepInput }
  /**
   * `run` of a transform, which changes the request of a delivery. `request`: JSON text of
   * `{ method, path, headers, body, event }`. The result: see `readTransformAnswer`.
   */
  | { kind: 'transform'; request: string };

/**
 * Earlier steps as a step is given them, in their order. `heads`: a namespace and the length of its
 * exports, as JSON, one list behind the other; `exports`: JSON texts of objects, one behind the
 * other. They are JSON already: a step at the end of a long workflow is given megabytes, and
 * escaping them once more takes longer than the step. Lengths are in UTF-16 units.
 */
export interface StepTexts {
  readonly heads: string;
  readonly exports: string;
}

/** Input of a step besides its props. */
export interface StepInput {
  /** Its own namespace, for messages. */
  namespace: string;
  /** Content of `steps`: the trigger, and every earlier step. */
  steps: StepTexts;
  /** JSON text of `$.context`. */
  context: string;
  /** The environment variables that its props name, and no others. */
  env: Readonly<Record<string, string>>;
  resumeUrl: string;
  cancelUrl: string;
}

/**
 * Last call of `$.flow`; `exit` wins over the others. It applies if the step ends without an error.
 * `context`: JSON text.
 */
export type FlowAction =
  | { kind: 'exit'; reason?: string }
  | { kind: 'delay'; ms: number }
  | { kind: 'suspend'; ms: number }
  | { kind: 'rerun'; ms: number; context?: string; maxRetries: number };

/**
 * One call of `$.send`: JSON text of an object with only these fields. http: `{ url, method?,
 * data?, headers?, params?, auth? }`; email: `{ subject, text?, html? }`; s3: `{ bucket, prefix,
 * payload }`; emit: `{ raw_event, name? }`; sse: `{ channel, payload }`. The isolate checks their
 * types, for a clear error. The receiver must check again.
 */
export interface SendCall {
  kind: 'http' | 'email' | 's3' | 'emit' | 'sse';
  payload: string;
}

/**
 * One call on a data store. `valueJson` and `ttlSeconds` come with `set`; `cursor` goes on with a
 * list of keys or entries.
 */
export interface DataStoreCall {
  storeId: string;
  op: 'get' | 'set' | 'delete' | 'has' | 'keys' | 'entries' | 'clear';
  key?: string;
  valueJson?: string;
  ttlSeconds?: number;
  cursor?: string;
}

/**
 * JSON text by operation. `get`: the value, absent if missing; `delete`, `has`: a boolean; `keys`:
 * `{ items: string[], cursor? }`; `entries`: `{ items: [key, value][], cursor? }`.
 */
export type DataStoreAnswer = { ok: true; json?: string } | { ok: false; message: string; limit?: ExceededLimit };

export interface RunRequest {
  /** Runs of two tenants never share a process. */
  tenantId: string;
  /**
   * Runs with the same key share a warm isolate: deployed component id and revision, `dc_x:3`,
   * which takes the place of `dc_x:2`. A key without a colon takes no other's place.
   */
  isolateKey: string;
  /** Name of this run in logs and messages; unique. */
  runId: string;
  bundle: ComponentBundle;
  entry: RunEntry;
  props: Record<string, RunProp>;
  /**
   * With a strategy, `$emit` without an id (for `greatest`: a numeric one) throws in the component.
   */
  dedupe?: DedupeStrategy;
  limits: RunLimits;
  /**
   * Give this run a process of its own: it was in flight when a shared one died, and either is
   * innocent or will show that it is not.
   */
  alone: boolean;
  /**
   * Ends the run at once where its outcome is of no use any more: an innocent fault, and nothing is
   * asked of its host again.
   */
  signal?: AbortSignal;
}

/**
 * A request that a component makes with `fetch`. Redirects are followed by the host, each hop
 * checked.
 */
export interface FetchRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body?: Uint8Array;
  redirect: 'follow' | 'error' | 'manual';
  /** Meter of the run that makes the request. Set outside of the sandbox. */
  meter?: FetchMeter;
}

/**
 * Counts the cost of a request for its run while the request is in progress, even if it fails.
 * Returns the exceeded limit, which ends the request.
 */
export interface FetchMeter {
  /**
   * Counts a followed redirect as one more request, which sends `bodyBytes`. The first request and
   * its body are already counted.
   */
  redirected(bodyBytes: number): ExceededLimit | undefined;
  /**
   * Counts bytes of an answer's body, redirects included, as they are read or decoded. The larger
   * of the two counts.
   */
  received(bytes: number): ExceededLimit | undefined;
}

export type FetchOutcome =
  | {
      ok: true;
      status: number;
      statusText: string;
      headers: [string, string][];
      url: string;
      redirected: boolean;
      body: Uint8Array;
    }
  /** `code`: as Node names what happened; packages try again by it. `limit`: where that is why. */
  | { ok: false; message: string; code?: string; limit?: ExceededLimit };

export interface RunFault {
  code: ErrorCode;
  message: string;
  /** The author's own frames only: file, line, column of the source as it was saved. */
  stack?: string;
  /**
   * Lines about causes and the like. They follow the frames of `stack` before the fault leaves the
   * sandbox.
   */
  details?: string;
  /** Present if a limit ended the run. */
  limit?: ExceededLimit;
}

/**
 * How a run ended. `innocent`: this run may not have caused the fault, because its process died or
 * the sandbox stopped. Run it again, alone. `diedAlone`: the process has served no other run, and
 * the node did not end it for a limit. The run or an outside kill ended it; only the next attempt
 * can tell.
 */
export type RunOutcome =
  /** `result`: what the entries `options`, `additional-props`, `step` and `transform` answer. */
  | { ok: true; cpuMs: number; wallMs: number; result?: string }
  | { ok: false; fault: RunFault; innocent: boolean; diedAlone?: true; cpuMs: number; wallMs: number };

/**
 * Layers of the operating system that confine each sandbox process. docs/security.md explains what
 * each one stops.
 */
export const SANDBOX_LAYERS = [
  'network',
  'user',
  'privileges',
  'syscalls',
  'parent',
  'files',
  'threads',
  'memory',
  'watch',
  'priority',
] as const;

/** One layer. `note`: its effect, or the reason why it is not active. */
export interface SandboxLayer {
  layer: (typeof SANDBOX_LAYERS)[number];
  active: boolean;
  note: string;
}
