import type { EmittedEvent, HttpResponse, LogLine } from '@headwater/shared';
import type {
  ComponentBundle,
  DataStoreAnswer,
  DataStoreCall,
  DescribeOptions,
  DescribeOutcome,
  FetchOutcome,
  FetchRequest,
  FlowAction,
  RunOutcome,
  RunRequest,
  SandboxLayer,
  SendCall,
} from './sandbox-types.ts';

/*
 * The seam between the engine and the sandbox: the engine calls Sandbox, and each run calls back
 * its RunHost. sandbox-types.ts has what goes over it; bridge/messages.ts how it reaches the guest.
 */

/** Interface for the engine; `startSandbox` makes it. */
export interface Sandbox {
  /**
   * Loads the code in its own isolate and reads its exports. Reports all errors of the component at
   * once, with the author's line if known.
   */
  describe(tenantId: string, bundle: ComponentBundle, options?: DescribeOptions): Promise<DescribeOutcome>;
  /** Runs one entry. Never rejects. */
  run(request: RunRequest, host: RunHost): Promise<RunOutcome>;
  /** Figures for /metrics. */
  stats(): { processes: number; idleProcesses: number; runsInFlight: number; crashes: number };
  /** Confinement layers of each process, as found at the start. */
  layers(): readonly SandboxLayer[];
  /** Ends every sandbox process; runs in flight end as innocent faults. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Requests of a run to its host. Calls arrive in the component's order, before the run's outcome.
 * None may throw. Asynchronous ones get an AbortSignal that fires at the end of the run.
 */
export interface RunHost {
  emit(event: EmittedEvent): void;
  log(line: LogLine): void;
  respond(response: HttpResponse): void;
  /** An empty `valueJson` deletes the key. */
  dbSet(key: string, valueJson: string): void;
  /** JSON text, or undefined where the key has no value. */
  dbGet(key: string): Promise<string | undefined>;
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome>;
  /** Asked only for stores that are among the run's props. */
  dataStore(call: DataStoreCall, signal: AbortSignal): Promise<DataStoreAnswer>;
  /** Present only for the entry `step`. */
  step?: StepHost;
}

/** Further requests of the entry `step`. Its calls arrive like those of RunHost. */
export interface StepHost {
  /**
   * `$.export`: the last value of a name holds. `$summary` is one of the names, `$return_value` and
   * `__proto__` are not.
   */
  export(name: string, valueJson: string): void;
  send(call: SendCall): void;
  /** At most once, of a step that has ended without an error. */
  flow(action: FlowAction): void;
  /**
   * The props that expressions have made, before `run` is called, at most once: JSON text of an
   * object of at most LIMITS.recordedPropsChars. `cutJson`: names of those that are the beginning
   * of their JSON, as a string; JSON text of an array.
   */
  props(propsJson: string, cutJson: string): void;
  /** `$.respond`, at most once. Without `immediate` the answer is for the end of the workflow. */
  respond(response: HttpResponse, immediate: boolean): void;
}
