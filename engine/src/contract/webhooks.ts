import type { AutoSubscriptionRecord, SubscriptionRecord } from '@headwater/shared/contract';
import type {
  DeliveryAttempt,
  DeliveryChoice,
  DeliveryRecord,
  MatchingChoice,
  RedeliveryChoice,
  WebhookHealth,
  WholeAttempt,
} from './deliveries.ts';
import type { TransformPreview, TransformPreviewRequest } from './transforms.ts';
import type { Condition, ExpectedRevisions, NamedPageRequest, Page, PageRequest, Principal } from './base.ts';
import type { ShownRequest, SignatureScheme, WebhookFormat, WebhookRequestSettings } from './webhook-requests.ts';

export type { AutoSubscriptionRecord, SubscriptionRecord } from '@headwater/shared/contract';

export interface WebhookRecord {
  id: string;
  userId: string;
  name?: string;
  description?: string;
  url: string;
  format: WebhookFormat;
  secret: string;
  signature: SignatureScheme;
  /** Receivers verify `v1a` with it. */
  publicKey?: string;
  /** The secret before it signs as well until then. */
  previousUntil?: Date;
  /** False: pending deliveries and new events are held. */
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
  disableFailuresOverHours?: number;
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
  /** Fewer attempts a second while its receiver cannot follow. */
  adaptiveRate: boolean;
  /** Attempts that may begin in a second now, with `adaptiveRate`. */
  currentRatePerSecond?: number;
  /** Since when all its attempts have failed. */
  failingSince?: Date;
  /** It was stopped because it failed for too long, or answered `410 Gone`. */
  disabled?: { at: Date; reason: 'failing' | 'gone' };
  /** The component that changes its requests. */
  transformId?: string;
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
  /**
   * How long its failures must have gone on, without a day between two of them. 0: one is enough.
   * Null: defaultDisableFailuresOverHours.
   */
  disableFailuresOverHours?: number | null;
  ordering?: 'none' | 'fifo';
  orderingKey?: string | null;
  ratePerSecond?: number | null;
  maxInFlight?: number | null;
  adaptiveRate?: boolean;
  /**
   * A component of the type `transform`, by its id, or by its key for the newest version there is
   * now. Null: none.
   */
  transformId?: string | null;
}

export interface WebhookCreate extends WebhookDetails {
  url: string;
  /** `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and an Ed25519 key. Default: a new one. */
  secret?: string;
  /** Default: that of the secret, else `v1`. */
  signature?: SignatureScheme;
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
  /** Default: that of the secret, else as before. */
  signature?: SignatureScheme;
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
  /** Events that tell of runs are not found. */
  emittedAlone?: boolean;
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

export interface Webhooks {
  create(who: Principal, input: WebhookCreate): Promise<WebhookRecord>;
  get(who: Principal, id: string): Promise<WebhookRecord>;
  list(who: Principal, page: NamedPageRequest): Promise<Page<WebhookRecord>>;
  /**
   * `active: false` stops the webhook and holds its pending deliveries, retries included. New
   * events are stored as held deliveries, up to the account's `maxPausedDeliveries`. `active: true`
   * delivers new events again and drains the held ones, oldest first. A new url or format applies
   * from the next attempt on, retries included. An empty name or description is removed.
   */
  update(who: Principal, id: string, change: WebhookUpdate, expected?: ExpectedRevisions): Promise<WebhookRecord>;
  /**
   * Also deletes its subscriptions and cancels its pending deliveries. Throws RATE_LIMITED with
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
   * The same by ids, status or the data of their events: a request looks at LIMITS.maxRedeliveries,
   * and `endCursor` leads on. It passes over deliveries whose event was deleted.
   */
  redeliverMatching(who: Principal, id: string, choice: MatchingChoice): Promise<{ count: number; endCursor?: string }>;
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
   * Cancels one waiting delivery, so that the next one of its key may be sent. Throws CONFLICT if
   * the delivery is being sent or has ended.
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
  /**
   * Runs a transform on past events and answers each request before and after. Nothing is sent or
   * stored. Throws RATE_LIMITED with `maxWebhookTestsPerTenant`, and INVALID_COMPONENT.
   */
  previewTransform(who: Principal, id: string, request: TransformPreviewRequest): Promise<TransformPreview[]>;
}

/** `tag`: the same for the same filter, which alone changes. */
type TaggedSubscription = SubscriptionRecord & { tag: string };

export interface Subscriptions {
  /**
   * Idempotent: the same three values answer the same subscription, which then has the filter that
   * is given.
   */
  create(who: Principal, key: SubscriptionKey & GivenFilter): Promise<SubscriptionRecord>;
  /** Throws NOT_FOUND, as for one that the key may not see. */
  get(who: Principal, id: string): Promise<TaggedSubscription>;
  update(who: Principal, id: string, change: GivenFilter, condition?: Condition): Promise<TaggedSubscription>;
  list(who: Principal, page: PageRequest): Promise<Page<SubscriptionRecord>>;
  delete(who: Principal, key: SubscriptionKey): Promise<void>;
  /** The names of sources and workflows, which a key for webhooks reads as well. Newest first. */
  emitters(who: Principal, page: PageRequest): Promise<Page<EmitterName>>;
}

export interface EmitterName {
  id: string;
  name: string;
}

export interface AutoSubscriptions {
  /** Idempotent, as Subscriptions.create. */
  create(who: Principal, key: Omit<SubscriptionKey, 'emitterId'> & GivenFilter): Promise<AutoSubscriptionRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<AutoSubscriptionRecord>>;
  /** The subscriptions that it has made stay. */
  delete(who: Principal, key: Omit<SubscriptionKey, 'emitterId'>): Promise<void>;
}
