import type { ExceededLimit, LogLine, PropDefinition } from '@headwater/shared';
import type { ExpectedRevisions, NamedPageRequest, Page, PageRequest, Preflight, Principal } from './base.ts';
import type { ComponentChoice, SourceCreate } from './components.ts';
import type { TimerSchedule } from '../schedule/index.ts';
import type { CallerTrace } from './spans.ts';

/** How a workflow's executions are started and ended. Part of a deployment. */
export interface WorkflowSettings {
  /**
   * From the start of an execution, or of its part after a wait, to its end. Absent: the account's
   * httpRunWallMs where HTTP has started it, and otherwise timerRunWallMs.
   */
  timeoutSeconds?: number;
  memoryMb: number;
  /**
   * Executions at the same time, on all nodes together; 1: one after the other, in the order of
   * their events. Absent: no bound.
   */
  concurrency?: number;
  /**
   * Executions that may start in a window of so many seconds; a limit of 0 pauses the workflow:
   * events wait.
   */
  throttle?: { limit: number; intervalSeconds: number };
  /**
   * Executions that may wait; a request or a run by hand beyond that is refused. Absent: no bound.
   */
  queueLimit?: number;
  /**
   * How often a step that failed is tried again, with growing pauses, before the execution fails.
   */
  retries: number;
  /** Absent: `allow`. */
  preflight?: Preflight;
  /** False: `PUT` saves a version that only tests use until it is deployed. */
  autoDeploy: boolean;
}

/**
 * `id`: keeps a trigger that is there, with its URL or the phase of its timer; without it one of
 * the same type is kept.
 */
export type TriggerInput =
  | { type: 'http'; id?: string; customResponse?: boolean }
  | { type: 'timer'; id?: string; schedule: TimerSchedule }
  /** Events of an emitter that is there, on one of its channels. */
  | { type: 'source'; sourceId: string; eventName?: string }
  /** A source that is deployed with the workflow. */
  | ({ type: 'deploy'; eventName?: string } & SourceCreate);

/**
 * A step that is there, by its id or else its namespace, keeps its id, its component where none is
 * named, and the props that are not given; null removes one.
 */
export interface StepInputRecord extends ComponentChoice {
  id?: string;
  namespace: string;
  configuredProps?: Record<string, unknown>;
  dynamicPropsId?: string;
  /**
   * How often it is tried again after a failure. Null, or a new step without it: as often as the
   * settings say.
   */
  retries?: number | null;
  /**
   * `continue`: after its last failure the steps behind it run all the same. Null, or a new step
   * without it: `fail`.
   */
  onError?: 'fail' | 'continue' | null;
}

export interface WorkflowInput {
  name?: string;
  triggers?: readonly TriggerInput[];
  steps?: readonly StepInputRecord[];
  settings?: SettingsInput;
}

/** Null takes a setting back. */
export type SettingsInput = { [K in keyof WorkflowSettings]?: WorkflowSettings[K] | null };

type WorkflowUpdate = WorkflowInput & { active?: boolean };

export type TriggerRecord =
  /** Without `endpointUrl`: of a version that does not run, and that has a trigger of its own. */
  | { id: string; type: 'http'; endpointUrl?: string; customResponse: boolean }
  | { id: string; type: 'timer'; schedule: TimerSchedule }
  /** `id` is that of the source. */
  | { id: string; type: 'source'; sourceId: string; eventName: string; deployed: boolean };

export interface StepRecord {
  id: string;
  namespace: string;
  componentId: string;
  /** Secrets are left out. */
  configuredProps: Record<string, unknown>;
  configurableProps: PropDefinition[];
  /** Absent: those of the settings. */
  retries?: number;
  onError: 'fail' | 'continue';
}

export interface WorkflowRecord {
  id: string;
  userId: string;
  name: string;
  nameSlug: string;
  active: boolean;
  /** The version that is shown, which is the current one unless another was asked for. */
  deploymentId: string;
  version: number;
  /**
   * The one that was saved last. Another than the current one waits to be deployed, or an older one
   * was deployed again.
   */
  latestDeploymentId: string;
  triggers: TriggerRecord[];
  steps: StepRecord[];
  settings: WorkflowSettings;
  /** Grows with each change. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** As lists show it: of the current version. */
export type WorkflowSummary = Omit<WorkflowRecord, 'steps'>;

/** Every method answers NOT_FOUND for a workflow of another account. */
export interface Workflows {
  /**
   * Saves components where code is given, deploys sources, and then the workflow with everything,
   * in one transaction. Throws INVALID_REQUEST or INVALID_PROPS with everything that is wrong, and
   * what components and hooks of sources end with; then no workflow and no source is left.
   */
  create(who: Principal, input: WorkflowInput): Promise<WorkflowRecord>;
  /** `deploymentId`: a version of it. */
  get(who: Principal, id: string, deploymentId?: string): Promise<WorkflowRecord>;
  list(who: Principal, page: NamedPageRequest): Promise<Page<WorkflowSummary>>;
  /**
   * Triggers, steps or settings make a new version, which becomes the current one unless its
   * settings say otherwise. What is not given is as it was. Throws as `create`, and CONFLICT where
   * another change came first.
   */
  update(who: Principal, id: string, change: WorkflowUpdate, expected?: ExpectedRevisions): Promise<WorkflowRecord>;
  /** Makes a version the current one: one that was saved, or an older one. */
  deploy(who: Principal, id: string, deploymentId: string): Promise<WorkflowRecord>;
  /**
   * Waiting executions are dropped. Sources that the workflow deployed are deleted first, unless
   * something else is subscribed to them by id.
   */
  delete(who: Principal, id: string, expected?: ExpectedRevisions): Promise<void>;
  /** Stores an execution and answers; it follows. */
  run(who: Principal, id: string, event?: unknown, caller?: CallerTrace): Promise<{ executionId: string }>;
  /** Newest first. */
  deployments(who: Principal, id: string, page: PageRequest): Promise<Page<DeploymentRecord>>;
}

export interface DeploymentRecord {
  id: string;
  version: number;
  isCurrent: boolean;
  createdAt: Date;
}

export type ExecutionStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'exited' | 'cancelled';

export interface ExecutionError {
  code: string;
  message: string;
  stack?: string;
  limit?: ExceededLimit;
  /** The step that failed. */
  namespace?: string;
}

/** JSON text, or the beginning of it. */
export interface ShownJson {
  text: string;
  isCut?: true;
}

export interface ExecutionStepRecord {
  namespace: string;
  /**
   * `continued`: it has failed, and those behind it run all the same. `cancelled`: the execution
   * was, while it waited after the step or to run it again.
   */
  status: 'done' | 'failed' | 'continued' | 'rerun' | 'waiting' | 'cancelled';
  runs: number;
  /**
   * As its component got them, JSON text of an object; absent: it has none, or it is shown in a
   * list.
   */
  props?: string;
  /** Those of which `props` has only the beginning of their JSON, as a string, or nothing. */
  propsCut?: string[];
  /** The return value; absent: none. */
  value?: ShownJson;
  exports: ShownJson;
  logs: LogLine[];
  /** There are lines that are not shown. */
  logsAreCut?: true;
  error?: ExecutionError;
  startedAt: Date;
  endedAt: Date;
}

export interface ExecutionRecord {
  id: string;
  workflowId: string;
  deploymentId?: string;
  status: ExecutionStatus;
  kind: string;
  traceId: string;
  causedBy?: string;
  replayOf?: string;
  event: ShownJson;
  /** JSON text; absent before the first step has ended. */
  context?: string;
  steps: ExecutionStepRecord[];
  error?: ExecutionError;
  /** The argument of `$.flow.exit`. */
  reason?: string;
  /** Reason and end of the wait. */
  wait?: { kind: 'delay' | 'suspend' | 'rerun' | 'retry'; until: Date };
  startedAt?: Date;
  endedAt?: Date;
}

/** Which failed executions of a workflow are meant; default: all that nothing has replayed. */
export interface FailedExecutionChoice {
  /** From this time on, before that one; when they ended. */
  since?: Date;
  until?: Date;
  /** Code of the error that failed the execution. */
  code?: string;
}

interface ReplayOptions {
  /** `failed`: steps that were completed are taken over. Default: `start`. */
  from?: 'start' | 'failed';
  /** Default: `original`. */
  deployment?: 'original' | 'newest';
}

interface ExecutionChoice {
  statuses?: readonly ExecutionStatus[];
  /** Made at this time or later. */
  since?: Date;
  /** Made before this time. */
  until?: Date;
}

export interface Executions {
  /**
   * Newest first, without their steps and with the beginning of their events. Cursors are ids;
   * `total` as in Events.history.
   */
  list(who: Principal, workflowId: string, page: PageRequest & ExecutionChoice): Promise<Page<ExecutionRecord>>;
  /** Without `expand`, of JSON that is longer than LIMITS.shownStepBytes only the beginning. */
  get(who: Principal, id: string, options: { expand: boolean }): Promise<ExecutionRecord>;
  replay(who: Principal, id: string, options: ReplayOptions): Promise<{ executionId: string }>;
  /**
   * Replays failed executions of a workflow, oldest first, up to LIMITS.maxRetriedExecutions and as
   * far as there is room; those that were replayed are passed over. Default: from the step that
   * failed. Answers how many.
   */
  retry(who: Principal, workflowId: string, choice: FailedExecutionChoice & ReplayOptions): Promise<number>;
  /**
   * Goes on with one that waits (`delay`, `suspend`, `rerun`) before its time, as its `resume_url`
   * would. Throws CONFLICT where it waits for nothing of these. `data`: JSON text.
   */
  resumeWaiting(who: Principal, id: string, data: string): Promise<void>;
  /** Ends one that waits or is queued. */
  cancel(who: Principal, id: string): Promise<void>;
  /**
   * The account of the execution that a token can resume now; undefined where nothing waits for it.
   */
  waitingFor(id: string, token: string): Promise<string | undefined>;
  /**
   * The effect of a suspended execution's URLs. False: nothing waits for that token. `data`: JSON
   * text.
   */
  resume(id: string, token: string, data: string): Promise<boolean>;
  cancelByToken(id: string, token: string): Promise<boolean>;
}

export interface EnvironmentVariable {
  name: string;
  description?: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface Environment {
  /** By name, without the values: those are never shown again. */
  list(who: Principal, page: PageRequest): Promise<Page<EnvironmentVariable>>;
  get(who: Principal, name: string): Promise<EnvironmentVariable>;
  /**
   * Makes a variable, or gives it another value, which steps get from then on. An empty description
   * is removed. Throws INVALID_REQUEST with everything that is wrong, CONFLICT where the account
   * may have no more.
   */
  put(who: Principal, name: string, input: { value: string; description?: string }): Promise<EnvironmentVariable>;
  /** Throws CONFLICT while the version that a workflow runs now names it. */
  delete(who: Principal, name: string): Promise<void>;
}
