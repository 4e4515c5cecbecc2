import type { ExceededLimit, HttpResponse, LogLine, PropDefinition } from '@headwater/shared';
import type { Apps, ConnectedAccounts } from './apps.ts';
import type {
  Durability,
  ExpectedRevisions,
  SourcePageRequest,
  Page,
  PageRequest,
  Preflight,
  Principal,
  RateLimitState,
} from './base.ts';
import type { DataStores } from './data-stores.ts';
import type { Events } from './events.ts';
import type { Idempotency } from './idempotency.ts';
import type { People } from './people.ts';
import type { Publisher } from './publish.ts';
import type { AbandonedRuns } from './runs.ts';
import type { Components, Imports, Registry, SourceCreate } from './components.ts';
import type { ComponentProps } from './props.ts';
import type { Stacks } from './stacks.ts';
import type { Environment, Executions, Workflows } from './workflows.ts';
import type { Replays } from './replays.ts';
import type { Sends } from './sends.ts';
import type { CallerTrace, Tracing } from './spans.ts';
import type { WorkflowTests } from './workflow-tests.ts';
import type { SampleReceiver } from './sample-receiver.ts';
import type { Operator, Stats } from './stats.ts';
import type { Usage } from './usage.ts';
import type { Streams } from './streams.ts';
import type { Tunnels } from './tunnels.ts';
import type { Traces } from './traces.ts';
import type { Accounts } from './accounts.ts';
import type { Archives } from './archives.ts';
import type { Audit } from './audit.ts';
import type { AutoSubscriptions, Subscriptions, Webhooks } from './webhooks.ts';

export type { AttemptRecord, Page, Principal } from './base.ts';
export type { EventRecord } from './events.ts';
export type { Subscriptions, WebhookCreate, WebhookRecord, Webhooks } from './webhooks.ts';

export interface SourceRecord {
  id: string;
  userId: string;
  componentId: string;
  name: string;
  nameSlug: string;
  active: boolean;
  /**
   * Secrets are left out; an HTTP prop shows `{ endpoint_url }`, a timer `{ cron, interval_seconds
   * }`.
   */
  configuredProps: Record<string, unknown>;
  /** The props of its component, and after them those of its additionalProps. */
  configurableProps: PropDefinition[];
  preflight: Preflight;
  durability: Durability;
  /** Grows with each change. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  /** When it emitted last; absent where none of its newest events is one that it emitted. */
  lastEventAt?: Date;
  /** Its last run that failed, as long as its events are kept. */
  lastError?: { at: Date; message?: string };
}

export interface SourceUpdate extends SourceCreate {
  active?: boolean;
  /** An update that would change nothing does nothing: no hook runs. */
  ifChanged?: boolean;
}

export interface RunRecord {
  id: string;
  kind: string;
  /** The event that started it, where it is of the kind `event`: `<emitter id>-<event id>`. */
  causedBy?: string;
  status: 'ok' | 'error';
  /** `limit`: which one ended the run. */
  error?: { code: string; message: string; stack?: string; limit?: ExceededLimit };
  logs: LogLine[];
  /**
   * Events that it stored, and those that dedupe dropped. Absent: not known, the run is of an older
   * version.
   */
  emitted?: number;
  deduped?: number;
  /** There are lines, and they are left out: those of newer runs are enough for one list. */
  logsAreCut?: true;
  startedAt: Date;
  endedAt: Date;
}

/** The source or workflow of an endpoint. */
export interface EndpointRoute {
  accountId: string;
  sourceId: string;
  propName: string;
  customResponse: boolean;
  preflight: Preflight;
  durability: Durability;
  /**
   * Set for a workflow whose settings say when its executions start. `queueLimit`: how many may
   * wait. Default: any number.
   */
  inTurn?: { queueLimit?: number };
}

export interface Sources {
  create(who: Principal, input: SourceCreate): Promise<SourceRecord>;
  get(who: Principal, id: string): Promise<SourceRecord>;
  list(who: Principal, page: SourcePageRequest): Promise<Page<SourceRecord>>;
  update(who: Principal, id: string, change: SourceUpdate, expected?: ExpectedRevisions): Promise<SourceRecord>;
  delete(who: Principal, id: string, expected?: ExpectedRevisions): Promise<void>;
  /**
   * Stores an invocation and answers; the run follows. Without an event, one that fits the source's
   * interfaces is made. `caller`: as of Ingest.accept.
   */
  run(who: Principal, id: string, event?: unknown, caller?: CallerTrace): Promise<{ invocationId: string }>;
  /** Runs that logged or failed, newest first. */
  runs(who: Principal, id: string, limit: number): Promise<RunRecord[]>;
  /** Those and the quiet ones: no event leads to them. Newest first, by when they were invoked. */
  runsWithQuiet(who: Principal, id: string, page: PageRequest): Promise<Page<RunRecord>>;
}

export interface Ingest {
  /** Undefined for an unknown key or a stopped source. */
  route(endpointKey: string): Promise<EndpointRoute | undefined>;
  /**
   * Throws RATE_LIMITED where requests to the endpoint come faster than its account may take them.
   * Undefined where there is no such limit.
   */
  admit(route: EndpointRoute): RateLimitState | undefined;
  /**
   * Stores the event (JSON text) as an invocation; resolves once it is durable. With
   * `customResponse` the second promise answers what the run responded, or why it did not. With
   * `durability: 'none'` nothing is stored before the run: without `customResponse` it resolves
   * once the run has ended and what it leaves is durable, or throws UNAVAILABLE if it is lost.
   * `caller`: the trace of the request, for accounts that want it.
   */
  accept(
    route: EndpointRoute,
    event: string,
    caller?: CallerTrace,
  ): Promise<{ invocationId: string; response?: Promise<RunResponse> }>;
  /**
   * Before requests in flight are waited for: those that wait for the turn of an execution end, now
   * and from now on, with why; the turn may be hours away.
   */
  endWaits(): void;
  /**
   * The stop has no more time: clients that wait for the answer of a run under way are told that
   * it is kept.
   */
  endAnswers(): void;
}

/**
 * `message`: why the run has given no answer. The request is `lost` where it is not stored, and its
 * run did not end. It is `kept` where it is stored, and the run comes later or on another node.
 */
export type RunResponse =
  | { ok: true; response: HttpResponse }
  | { ok: false; message: string; request?: 'lost' | 'kept' };

/**
 * The engine as its clients see it. Every method throws HeadwaterError for what the caller did
 * wrong.
 */
/** Sign-in of the web UI: an API key in a form that a browser may keep. */
export interface Sessions {
  /** The key is not looked at: authenticate it first. */
  begin(apiKey: string): { token: string; expiresAt: Date };
  /** The API key of a token; undefined where the token is none of ours, or has expired. */
  keyOf(token: string): string | undefined;
  /** For a page that cannot send a key: it opens streams alone. The key is not looked at. */
  makeStreamToken(apiKey: string, token: { expiresAt: Date; emitterId?: string }): string;
  /**
   * The API key of a token for the streams of this source or workflow; undefined where the token is
   * none, is for another one, or has expired.
   */
  streamKeyOf(token: string, emitterId: string): string | undefined;
}

export interface Engine {
  accounts: Accounts;
  archives: Archives;
  sessions: Sessions;
  people: People;
  components: Components;
  registry: Registry;
  imports: Imports;
  sources: Sources;
  workflows: Workflows;
  workflowTests: WorkflowTests;
  stacks: Stacks;
  environment: Environment;
  executions: Executions;
  /** Runs of sources that were given up. */
  abandonedRuns: AbandonedRuns;
  /** The calls that forms for components need. */
  componentProps: ComponentProps;
  dataStores: DataStores;
  apps: Apps;
  connectedAccounts: ConnectedAccounts;
  events: Events;
  publisher: Publisher;
  idempotency: Idempotency;
  audit: Audit;
  tunnels: Tunnels;
  streams: Streams;
  traces: Traces;
  /** Parts that deliveries are sent with. */
  sampleReceiver: SampleReceiver;
  /** Shown to the operator, of all accounts. */
  operator: Operator;
  /** Counters by time. */
  stats: Stats;
  /** Usage of accounts, by day. */
  usage: Usage;
  webhooks: Webhooks;
  subscriptions: Subscriptions;
  replays: Replays;
  autoSubscriptions: AutoSubscriptions;
  /** The sends of executions, made with `$.send`. */
  sends: Sends;
  ingest: Ingest;
  /** Absent: spans are not recorded. */
  tracing?: Tracing;
  /** The reasons why this node cannot work, in words for its operator; empty: it is ready. */
  problems(): Promise<readonly string[]>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  /**
   * Before requests in flight are waited for: only what a client waits for is started from now on,
   * all else given back.
   */
  drain(): void;
  /** Stops intake, drains what is in flight, releases leases. Idempotent. */
  stop(): Promise<void>;
}
