import type {
  AccountLimits,
  ExceededLimit,
  FilterJson,
  HttpResponse,
  KeyScope,
  LogLine,
  PropDefinition,
} from '@headwater/shared';
import type { Apps, ConnectedAccounts } from './contract-apps.ts';
import type {
  DeliveryAttempt,
  DeliveryChoice,
  DeliveryRecord,
  RedeliveryChoice,
  WebhookHealth,
  WholeAttempt,
} from './contract-deliveries.ts';
import type { ExpectedRevisions, Page, PageRequest, Preflight, Principal } from './contract-base.ts';
import type { ShownRequest, WebhookFormat, WebhookRequestSettings } from './contract-webhook-requests.ts';
import type { DataStores } from './contract-data-stores.ts';
import type { Events } from './contract-events.ts';
import type { Idempotency } from './contract-idempotency.ts';
import type { Publisher } from './contract-publish.ts';
import type { AbandonedRuns } from './contract-runs.ts';
import type { Components, Imports, Registry, SourceCreate } from './contract-components.ts';
import type { ComponentProps } from './contract-props.ts';
import type { Environment, Executions, Workflows } from './contract-workflows.ts';
import type { Replays } from './contract-replays.ts';
import type { Sends } from './contract-sends.ts';
import type { WorkflowTests } from './contract-workflow-tests.ts';
import type { SampleReceiver } from './contract-sample-receiver.ts';
import type { Operator, Stats } from './contract-stats.ts';
import type { Streams } from './contract-streams.ts';
import type { Tunnels } from './contract-tunnels.ts';
import type { Traces } from './contract-traces.ts';

export type { AttemptRecord, ExpectedRevisions, Page, PageRequest, Principal } from './contract-base.ts';
export type { EventHistoryRequest, EventRecord, EventSearchRequest, Events, LogLineRecord } from './contract-events.ts';
export type { AbandonedRunRecord } from './contract-runs.ts';
export type { ComponentChoice, ComponentRecord, Components, SourceCreate } from './contract-components.ts';

export interface AccountRecord {
  id: string;
  name: string;
}

/** An account as its operator sees it in the list; `sources`: how many are deployed. */
export interface AccountSummary extends AccountRecord {
  sources: number;
  createdAt: Date;
}

/**
 * The limits that hold for an account, the node's defaults, what was set for the account, and what
 * maxHistoryBytes counts.
 */
export interface AccountLimitsRecord {
  accountId: string;
  limits: AccountLimits;
  defaults: AccountLimits;
  set: Partial<AccountLimits>;
  history: AccountHistory;
}

/** As far as nodes have told of it. */
export interface AccountHistory {
  bytes: number;
  /**
   * What is older was deleted, or is being deleted, because there was more than maxHistoryBytes.
   * Absent: nothing had to be.
   */
  keptFrom?: Date;
}

export interface UserRecord {
  id: string;
  username: string;
  email?: string;
  account: AccountRecord;
  /** Use of today's countable resources, for `GET /users/me`. */
  /**
   * How many there are; of subscriptions with the auto subscriptions, which the same limit counts.
   */
  usage: { sources: number; workflows: number; webhooks: number; subscriptions: number };
  limits: Pick<AccountLimits, 'maxSources' | 'maxWorkflows' | 'maxWebhooks' | 'maxSubscriptions'>;
}

export interface ApiKeyRecord {
  id: string;
  name: string;
  hint: string;
  scopes: readonly KeyScope[];
  createdAt: Date;
  expiresAt?: Date;
  revokedAt?: Date;
}

export interface NewApiKey {
  name: string;
  /** Default: `full`. */
  scopes?: readonly KeyScope[];
  /** Default: it works until it is revoked. */
  expiresAt?: Date;
}

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
  /** Of its component, and after them those of its additionalProps. */
  configurableProps: PropDefinition[];
  preflight: Preflight;
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
}

export interface WebhookRecord {
  id: string;
  userId: string;
  name?: string;
  description?: string;
  url: string;
  format: WebhookFormat;
  secret: string;
  /** The secret before it signs as well until then. */
  previousUntil?: Date;
  /** False: what is pending is held, and so are new events. */
  active: boolean;
  /** When it was started last, while not all that it held has been sent. */
  drainSince?: Date;
  /** How much of that is sent a second. Undefined: as fast as it goes. */
  drainPerSecond?: number;
  /** Its receiver has asked for nothing before, with a 429 or 503. */
  putOffUntil?: Date;
  /** Grows with each change. */
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  /** Own headers of its requests; names in lower case. */
  headers: Record<string, string>;
  /** Undefined: as the node does it by default. */
  retryScheduleSeconds?: number[];
  timeoutSeconds?: number;
  disableAfterHours?: number;
  /**
   * `fifo`: of each key the next delivery is sent once the one before has succeeded, is exhausted
   * or was skipped.
   */
  ordering: 'none' | 'fifo';
  /** The path of the key in the event. Undefined: all have the same. */
  orderingKey?: string;
  /** Attempts over all nodes. Undefined: as the account may. */
  ratePerSecond?: number;
  maxInFlight?: number;
  /** Since when all its attempts have failed. */
  failingSince?: Date;
  /** It was stopped because it failed for too long, or answered `410 Gone`. */
  disabled?: { at: Date; reason: 'failing' | 'gone' };
  /** Without its secrets. */
  request: ShownRequest;
}

interface WebhookDetails extends WebhookRequestSettings {
  name?: string;
  description?: string;
  format?: WebhookFormat;
  headers?: Record<string, string>;
  /** Null: as the node does it by default. */
  retryScheduleSeconds?: number[] | null;
  timeoutSeconds?: number | null;
  /**
   * How long it may fail before it is disabled, which holds what waits. 0: for ever. Null:
   * defaultDisableAfterHours.
   */
  disableAfterHours?: number | null;
  ordering?: 'none' | 'fifo';
  orderingKey?: string | null;
  ratePerSecond?: number | null;
  maxInFlight?: number | null;
}

export interface WebhookCreate extends WebhookDetails {
  url: string;
  /** `whsec_` and base64 of 24 to 64 bytes. Default: a new one. */
  secret?: string;
}

export type WebhookUpdate = WebhookDetails & {
  url?: string;
  active?: boolean;
  /** Only with `active: true`. Null: as fast as it goes. */
  drainPerSecond?: number | null;
};

interface SecretRotation {
  /** The new one. Default: made here. */
  secret?: string;
  /** 0 to LIMITS.maxSecretOverlapHours. Default LIMITS.defaultSecretOverlapHours. */
  overlapHours?: number;
}

/** Which pending deliveries; none given: all. */
interface RetryFilter {
  ids?: readonly string[];
  /** On the data of the event; JSON, checked by the engine. */
  filter?: unknown;
  /** Goes on where the one before has stopped to look. */
  after?: string;
}

/** A test sends an event of the account, or the event given. */
export interface WebhookTest {
  event?: unknown;
  eventId?: string;
  emitterId?: string;
}

export interface WebhookTestResult {
  /** The `webhook-id` header of the request. */
  messageId: string;
  /** Whether the answer was a 2xx. */
  delivered: boolean;
  attempt: DeliveryAttempt;
}

export interface SubscriptionKey {
  emitterId: string;
  listenerId: string;
  /** Channel, or a pattern of them (`order.*`); absent or empty: the default channel. */
  eventName?: string;
}

/** JSON, checked by the engine; null: none. Absent: what exists keeps its own. */
interface GivenFilter {
  filter?: unknown;
}

export interface SubscriptionRecord {
  id: string;
  emitterId: string;
  listenerId: string;
  eventName: string;
  filter: FilterJson | null;
  createdAt: Date;
}

/** A subscription that every source gets that is made from now on. */
export interface AutoSubscriptionRecord {
  id: string;
  listenerId: string;
  eventName: string;
  filter: FilterJson | null;
  createdAt: Date;
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

/** Where an endpoint leads. */
export interface EndpointRoute {
  accountId: string;
  sourceId: string;
  propName: string;
  customResponse: boolean;
  preflight: Preflight;
  /**
   * Of a workflow whose settings say when its executions start. `queueLimit`: how many may wait.
   * Default: any number.
   */
  inTurn?: { queueLimit?: number };
}

export interface Accounts {
  create(input: {
    name: string;
    email?: string;
  }): Promise<{ account: AccountRecord; user: { id: string }; apiKey: string }>;
  /** Undefined for an unknown or revoked key. */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  /** Whether this node has seen that it is somebody's; it may have been revoked since. */
  isKnown(apiKey: string): boolean;
  me(who: Principal): Promise<UserRecord>;
  listKeys(who: Principal, page: PageRequest): Promise<Page<ApiKeyRecord>>;
  createKey(who: Principal, key: NewApiKey): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  revokeKey(who: Principal, id: string): Promise<void>;
  /**
   * A key with the scope `webhooks`, of the oldest user of the account. Throws NOT_FOUND, and as
   * createKey.
   */
  createPortalKey(accountId: string, expiresAt: Date): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  /**
   * For the operator: where `$.send.email` sends to. Null removes it. Throws INVALID_REQUEST,
   * NOT_FOUND.
   */
  setEmail(accountId: string, email: string | null): Promise<AccountRecord & { email?: string }>;
  /** All accounts, for the operator. */
  list(page: PageRequest): Promise<Page<AccountSummary>>;
  limits(accountId: string): Promise<AccountLimitsRecord>;
  /**
   * Sets what is given and takes back what is null; the rest stays. Holds at once on this node, and
   * as soon as they hear of it on the others. Throws INVALID_REQUEST with everything that is wrong,
   * NOT_FOUND.
   */
  setLimits(accountId: string, change: Readonly<Record<string, unknown>>): Promise<AccountLimitsRecord>;
}

export interface Sources {
  create(who: Principal, input: SourceCreate): Promise<SourceRecord>;
  get(who: Principal, id: string): Promise<SourceRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<SourceRecord>>;
  update(who: Principal, id: string, change: SourceUpdate, expected?: ExpectedRevisions): Promise<SourceRecord>;
  delete(who: Principal, id: string, expected?: ExpectedRevisions): Promise<void>;
  /**
   * Stores an invocation and answers; the run follows. Without an event, one that fits the source's
   * interfaces is made.
   */
  run(who: Principal, id: string, event?: unknown): Promise<{ invocationId: string }>;
  /** Runs that logged or failed, newest first. */
  runs(who: Principal, id: string, limit: number): Promise<RunRecord[]>;
  /** Those and the quiet ones: no event leads to them. Newest first, by when they were invoked. */
  runsWithQuiet(who: Principal, id: string, page: PageRequest): Promise<Page<RunRecord>>;
}

export interface Webhooks {
  create(who: Principal, input: WebhookCreate): Promise<WebhookRecord>;
  get(who: Principal, id: string): Promise<WebhookRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<WebhookRecord>>;
  /**
   * `active: false` stops the webhook: what is pending is held, retries included, and new events
   * are stored as held deliveries, up to the account's `maxPausedDeliveries`. `active: true`
   * delivers new events again, and drains what was held, the oldest first. A new url or format
   * holds from the next attempt on, retries included. An empty name or description is removed.
   */
  update(who: Principal, id: string, change: WebhookUpdate, expected?: ExpectedRevisions): Promise<WebhookRecord>;
  /**
   * Deletes its subscriptions as well and cancels what is pending. Throws RATE_LIMITED with
   * `maxDeletionsPerTenant`.
   */
  delete(who: Principal, id: string, expected?: ExpectedRevisions): Promise<void>;
  /** Newest first; without an id, of all webhooks of the account. */
  deliveries(
    who: Principal,
    id: string | undefined,
    page: PageRequest,
    choice?: DeliveryChoice,
  ): Promise<Page<DeliveryRecord>>;
  /** NOT_FOUND also for a delivery of a webhook that was deleted. */
  delivery(who: Principal, deliveryId: string): Promise<DeliveryRecord>;
  /**
   * By the delivery's id, a hyphen and the millisecond in which it began. NOT_FOUND as for the
   * delivery.
   */
  attempt(who: Principal, attemptId: string): Promise<WholeAttempt>;
  /** For deliveries of events since then. */
  health(who: Principal, id: string, sinceMs: number): Promise<WebhookHealth>;
  /**
   * Delivers again, with the same ids: one delivery that has ended, or those that have failed, at
   * most LIMITS.maxRedeliveries. Answers how many. CONFLICT where the webhook is stopped, or the
   * one that is named is pending or its event deleted.
   */
  redeliver(who: Principal, id: string, what?: string | RedeliveryChoice): Promise<number>;
  /** How many failed deliveries `redeliver` would take, without changing them. */
  countRedeliverable(who: Principal, id: string, choice: RedeliveryChoice): Promise<number>;
  /**
   * Makes pending deliveries due at once, from the beginning of their schedule: at most
   * LIMITS.maxRetriedNow, the longest due first. Answers how many. CONFLICT where the webhook is
   * stopped.
   */
  retryNow(who: Principal, id: string, filter: RetryFilter): Promise<{ count: number; endCursor?: string }>;
  /**
   * Cancels all that is pending of the webhook, held or not; the deliveries stay in lists. Answers
   * how many. An attempt under way is left to end. Throws RATE_LIMITED with
   * `maxDeletionsPerTenant`.
   */
  discard(who: Principal, id: string): Promise<number>;
  /**
   * Cancels one delivery that waits; the next one of its key may be sent. CONFLICT where it is
   * being sent, or has ended.
   */
  skip(who: Principal, deliveryId: string): Promise<DeliveryRecord>;
  /**
   * Replaces the secret; see SecretRotation. Each request carries both signatures until the overlap
   * is over.
   */
  rotateSecret(who: Principal, id: string, rotation: SecretRotation): Promise<WebhookRecord>;
  /**
   * Sends one signed request now, whether or not the webhook is subscribed or active, and answers
   * what came of it. Nothing is stored or tried again. NOT_FOUND for an event that the account does
   * not have.
   */
  test(who: Principal, id: string, test: WebhookTest): Promise<WebhookTestResult>;
}

export interface Subscriptions {
  /**
   * Idempotent: the same three values answer the same subscription, which then has the filter that
   * is given.
   */
  create(who: Principal, key: SubscriptionKey & GivenFilter): Promise<SubscriptionRecord>;
  update(who: Principal, id: string, change: GivenFilter): Promise<SubscriptionRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<SubscriptionRecord>>;
  delete(who: Principal, key: SubscriptionKey): Promise<void>;
}

export interface AutoSubscriptions {
  /** Idempotent, as Subscriptions.create. */
  create(who: Principal, key: Omit<SubscriptionKey, 'emitterId'> & GivenFilter): Promise<AutoSubscriptionRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<AutoSubscriptionRecord>>;
  /** The subscriptions that it has made stay. */
  delete(who: Principal, key: Omit<SubscriptionKey, 'emitterId'>): Promise<void>;
}

export interface Ingest {
  /** Undefined for an unknown key or a stopped source. */
  route(endpointKey: string): Promise<EndpointRoute | undefined>;
  /**
   * Throws RATE_LIMITED where requests to the endpoint come faster than its account may take them.
   */
  admit(route: EndpointRoute): void;
  /**
   * Stores the event (JSON text) as an invocation; resolves once it is durable. With
   * `customResponse` the second promise answers what the run responded, or why it did not.
   */
  accept(route: EndpointRoute, event: string): Promise<{ invocationId: string; response?: Promise<RunResponse> }>;
  /**
   * Before requests in flight are waited for: those that wait for the turn of an execution end, now
   * and from now on, with why; the turn may be hours away.
   */
  endWaits(): void;
  /**
   * The stop has no more time: clients that wait for the answer of a run under way are told. The
   * run is kept.
   */
  endAnswers(): void;
}

export type RunResponse = { ok: true; response: HttpResponse } | { ok: false; message: string };

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
}

export interface Engine {
  accounts: Accounts;
  sessions: Sessions;
  components: Components;
  registry: Registry;
  imports: Imports;
  sources: Sources;
  workflows: Workflows;
  workflowTests: WorkflowTests;
  environment: Environment;
  executions: Executions;
  /** Runs of sources that were given up. */
  abandonedRuns: AbandonedRuns;
  /** What forms for components need. */
  componentProps: ComponentProps;
  dataStores: DataStores;
  apps: Apps;
  connectedAccounts: ConnectedAccounts;
  events: Events;
  publisher: Publisher;
  idempotency: Idempotency;
  tunnels: Tunnels;
  streams: Streams;
  traces: Traces;
  /** Parts that deliveries are sent with. */
  sampleReceiver: SampleReceiver;
  /** Shown to the operator, of all accounts. */
  operator: Operator;
  /** Counters by time. */
  stats: Stats;
  webhooks: Webhooks;
  subscriptions: Subscriptions;
  replays: Replays;
  autoSubscriptions: AutoSubscriptions;
  /** What executions send with `$.send`. */
  sends: Sends;
  ingest: Ingest;
  /** What keeps this node from its work, in words for its operator; empty: it is ready. */
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
