import type { DedupeStrategy, EmittedEvent, ErrorCode, HookName, HttpResponse, LogLine } from '@headwater/shared';
import type {
  DataStoreAnswer,
  DataStoreCall,
  FetchOutcome,
  FetchRequest,
  FlowAction,
  RunFault,
  SendCall,
  WallLimitName,
} from '../sandbox-types.ts';
import type { GuestLimits } from './guest-limits.ts';

/*
 * Every message of the sandbox, by name. Three parties: the host (pool/) is the node, the worker
 * (worker/) is the process around the isolates, the guest (guest/) is what runs in one.
 *
 *   guest ──GuestPost──► worker ──ToHost──► host
 *   guest ──GuestAsk───► worker, which answers at once
 *   guest ◄─GuestCall─── worker ◄─ToSandbox── host
 *
 * The encodings lie below: frames-to-host.ts and frames-to-worker.ts between the processes,
 * guest/isolate-codec.ts and worker/isolate-codec.ts at the wall of the isolate. Only primitives
 * and Uint8Array cross that wall, always as copies. An optional member is undefined, never absent:
 * a component could put it on Object.prototype.
 */

/** JSON text. It is passed on unread; the receiver that needs its content checks it. */
type Json = string;
/** A body: copied on the way, never parsed or escaped. */
export type Content = string | Uint8Array;

/**
 * Guest to worker: no answer, kept in order. The guest shares its language with hostile code, so
 * the worker judges each post and ends the run of one that is malformed.
 */
export type GuestPost =
  | TimerPost
  | RelayedPost
  /** `head`: as `writeLogHead` writes it. */
  | { kind: 'log'; run: number; head: string; message: string }
  /** `head`: a call of `crypto.subtle`. */
  | { kind: 'web-crypto'; run: number; call: number; head: Json; bytes: Uint8Array }
  /**
   * The entry of the run ended well: the run is over when nothing that it began is open. `result`:
   * what the entry answers, if it answers anything.
   */
  | { kind: 'done'; run: number; result: Json | undefined }
  /**
   * The run threw. `failure`: message, stack, whether it is a ConfigurationError, and the limit
   * that is why.
   */
  | { kind: 'failed'; run: number; failure: Json };

/** The clock is the worker's. */
type TimerPost =
  | { kind: 'timer-set'; run: number; timer: number; delayMs: number; timerKind: TimerKind }
  | { kind: 'timer-clear'; run: number; timer: number }
  | { kind: 'timer-ref'; run: number; timer: number; isRef: boolean };

/** `unref`: the run does not wait for it. */
export type TimerKind = 'timer' | 'interval' | 'unref';
/** The delay of a timer that is due as soon as possible. */
export const AT_ONCE = -1;

/** Posts that the worker checks and counts, then passes to the host unchanged. */
type RelayedPost =
  /** `meta`: id, name, summary, ts and emittedAtMs. */
  | { kind: 'emit'; run: number; event: Json; meta: Json }
  /** `head`: status and headers. */
  | { kind: 'respond'; run: number; head: Json; body: Content }
  /** '' for a value deletes the key. */
  | { kind: 'db-set'; run: number; key: string; value: Json }
  /** `head`: url, method, headers and redirect. */
  | { kind: 'fetch'; run: number; call: number; head: Json; body: Content | undefined }
  | { kind: 'fetch-abort'; run: number; call: number }
  /** `head`: a DataStoreCall without its value. */
  | { kind: 'data-store'; run: number; call: number; head: Json; value: Json | undefined }
  | { kind: 'step-export'; run: number; name: string; value: Json }
  /** `means`: the kind of a SendCall. */
  | { kind: 'step-send'; run: number; means: string; payload: Json }
  /** Right before `done`. `action`: a FlowAction without its context. */
  | { kind: 'step-flow'; run: number; action: Json; context: Json | undefined }
  /** `immediate`: it does not wait for the end of the workflow. */
  | { kind: 'step-respond'; run: number; head: Json; body: Content; immediate: boolean }
  /** Before `run` is called. `props`: made by expressions. `cut`: names of those that are cut. */
  | { kind: 'step-props'; run: number; props: Json; cut: Json };

/**
 * Guest to worker, answered while the guest waits. Text where bytes are expected is the reason of a
 * refusal, and so is text without a leading `v` where text is expected.
 */
export type GuestAsk =
  | { kind: 'random'; bytes: number }
  | { kind: 'hash'; algorithm: string; data: Uint8Array }
  | { kind: 'hmac'; algorithm: string; key: Uint8Array; data: Uint8Array }
  /** Answered without `v`: it cannot fail, but for the limit of its size. */
  | { kind: 'decode-utf8'; data: Uint8Array }
  | { kind: 'encode-utf8'; text: string }
  /** `stream`: it goes on. */
  | { kind: 'decode-text'; label: string; fatal: boolean; stream: boolean; data: Uint8Array }
  /** Answers the name of the encoding. */
  | { kind: 'encoding-name'; label: string }
  /** `order`: `c` to compress, `d` to decompress, `p` to do so with a part; then the format. */
  | { kind: 'compress'; order: string; data: Uint8Array }
  /** Answers the parts of a URL as JSON, or nothing. `order`: see worker/ask-url.ts. */
  | { kind: 'url'; order: Json }
  /** `head`: method and options. See worker/ask-zlib.ts. */
  | { kind: 'zlib'; head: Json; data: Uint8Array }
  /** `head`: operation and arguments. See worker/ask-crypto.ts. */
  | { kind: 'node-crypto'; head: Json; data: Uint8Array; second: Uint8Array }
  /** Answers the source map of the component, or '', without `v`. */
  | { kind: 'source-map' };

/** Worker to guest, on behalf of one run. This direction is trusted. */
export type GuestCall =
  /** The module is about to be evaluated. `limits`: GuestLimits. */
  | { kind: 'loading'; limits: Json }
  /** `namespace`: that of the module. Answers an error as JSON, or undefined. */
  | { kind: 'load'; namespace: unknown }
  /** `dedupe`: '' for none. `props` and `event`: as in RunOrder. */
  | { kind: 'start'; entry: EntryName; dedupe: string; props: Json; event: string }
  | { kind: 'timer'; timer: number }
  /** `head`: a FetchOutcome without its body. */
  | { kind: 'fetched'; call: number; head: Json; body: Uint8Array }
  /** The answer to `web-crypto` and `data-store`. */
  | { kind: 'answered'; call: number; head: Json; body: Uint8Array }
  /** Answers what the component says of itself, as JSON. */
  | { kind: 'outline' }
  /** The host has ended the run, so its later messages are ignored. */
  | { kind: 'end' }
  /** For runs that start from now on: GuestLimits. */
  | { kind: 'limits'; limits: Json };

/** Worker to host, as the worker writes it. */
export type ToHost =
  | RelayedPost
  /** With the snapshot, where the process had to make it. */
  | { kind: 'ready'; snapshot: Uint8Array | undefined }
  | { kind: 'log'; run: number; line: LogLine }
  | { kind: 'db-get'; run: number; call: number; key: string }
  | { kind: 'outcome'; run: number; outcome: ReportedOutcome }
  | { kind: 'described'; run: number; outline: Json }
  | { kind: 'pong' }
  /** One of its isolates can no longer be stopped from inside: end the process. */
  | { kind: 'condemned' };

/**
 * Worker to host, as the host reads it. The process may be in an attacker's hands: all of it is
 * checked in type and size when it is read, and counted per run by its reader.
 */
export type FromSandbox =
  | Exclude<ToHost, Exclude<RelayedPost, { kind: 'fetch-abort' }>>
  | { kind: 'emit'; run: number; event: EmittedEvent }
  | { kind: 'respond'; run: number; response: HttpResponse }
  | { kind: 'db-set'; run: number; key: string; valueJson: string }
  | { kind: 'fetch'; run: number; call: number; request: FetchRequest }
  | { kind: 'data-store'; run: number; call: number; asked: DataStoreCall }
  | { kind: 'step-export'; run: number; name: string; valueJson: string }
  | { kind: 'step-send'; run: number; call: SendCall }
  | { kind: 'step-flow'; run: number; action: FlowAction }
  | { kind: 'step-respond'; run: number; response: HttpResponse; immediate: boolean }
  | { kind: 'step-props'; run: number; propsJson: string; cutJson: string };

export type ReportedOutcome =
  | { ok: true; cpuMs: number; wallMs: number; result?: string }
  | { ok: false; fault: RunFault & { code: SandboxFault }; innocent: boolean; cpuMs: number; wallMs: number };

/** Faults that a sandbox process may report; any other code from it is a protocol violation. */
export const SANDBOX_FAULTS = [
  'COMPONENT_ERROR',
  'CONFIGURATION_ERROR',
  'CPU_LIMIT',
  'WALL_LIMIT',
  'MEMORY_LIMIT',
  'OUTPUT_LIMIT',
  'RESOURCE_LIMIT',
] as const satisfies readonly ErrorCode[];
export type SandboxFault = (typeof SANDBOX_FAULTS)[number];

/** Settings in the first message to a sandbox process. */
export interface StartSettings {
  /** Limits for components that are only described, and until a `limits` message arrives. */
  limits: GuestLimits;
  /** Warm isolates it keeps at most, and how much heap they may hold together. */
  maxIsolates: number;
  maxWarmHeapMb: number;
  /**
   * Memory limit of the isolate that is kept booted for a component without one, until one was made
   * with another.
   */
  spareMemoryMb: number;
}

/** Costs that loading and running a component in an isolate may have. */
export interface EntryLimits {
  cpuMs: number;
  wallMs: number;
  /** Which of the account's limits `wallMs` is. */
  wallLimit: WallLimitName;
  memoryMb: number;
}

/** Entry point of a component; hooks go by their own names. */
export type EntryName = 'run' | HookName | 'options' | 'additional-props' | 'step' | 'transform';

export interface RunOrder {
  kind: 'run';
  run: number;
  isolateKey: string;
  bundleHash: string;
  entry: EntryName;
  dedupe?: DedupeStrategy;
  limits: EntryLimits;
  /** JSON text of `Record<string, RunProp>`. */
  props: string;
  /**
   * Argument of the entry, as JSON text: the event. `options` gets its query, `additional-props`
   * the previous definitions. For `step` see step-input.ts.
   */
  event: string;
}

/** A file that the process was given open. */
export interface OpenFile {
  fd: number;
  bytes: number;
}

/** Host to worker. This direction is trusted. */
export type ToSandbox =
  /**
   * Without a snapshot the process makes one of the guest's code, and tells it when it is ready.
   */
  | { kind: 'start'; settings: StartSettings; guest: string | OpenFile }
  /** `map`: JSON text of its source map; '' where that is too large to be sent. */
  | { kind: 'bundle'; hash: string; code: string; map: string }
  | { kind: 'drop-bundle'; hash: string }
  /** JSON text of GuestLimits: they hold for every run ordered from now on. */
  | { kind: 'limits'; limits: string }
  | RunOrder
  | { kind: 'describe'; run: number; bundleHash: string; limits: EntryLimits }
  /** `v` + JSON, `u` (no such key) or `e` + message. */
  | { kind: 'db-value'; run: number; call: number; answer: string }
  | { kind: 'fetched'; run: number; call: number; outcome: FetchOutcome }
  | { kind: 'store-answer'; run: number; call: number; answer: DataStoreAnswer }
  /** Nothing of it is wanted any more. */
  | { kind: 'cancel'; run: number }
  | { kind: 'ping' };
