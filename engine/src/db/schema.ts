import { bigint, boolean, customType, integer, jsonb, pgTable, primaryKey, sql, text, timestamp } from './drizzle.ts';
import type {
  AccountLimits,
  ComponentType,
  DedupeStrategy,
  ExceededLimit,
  HookName,
  PropDefinition,
} from '@headwater/shared';
import type {
  AdaptiveRate,
  DeliveryAttempt,
  DeliveryErrorClass,
  Durability,
  Preflight,
  RequestOptions,
  WebhookFormat,
} from '../contract/index.ts';

/**
 * The tables as drizzle sees them. migrations/*.sql is the truth; a test compares the two. Only
 * what the resources' queries need is typed here: the statements written for every event are plain
 * SQL in this folder.
 */
const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const createdAt = () => moment('created_at').notNull().defaultNow();
const updatedAt = () => moment('updated_at').notNull().defaultNow();

export const accounts = pgTable('accounts', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
  limits: jsonb('limits').$type<Partial<AccountLimits>>().notNull().default({}),
});

export const users = pgTable('users', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  username: text('username').notNull(),
  email: text('email'),
  createdAt: createdAt(),
});

export const apiKeys = pgTable('api_keys', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  userId: text('user_id').notNull(),
  name: text('name').notNull(),
  keyHash: bytea('key_hash').notNull(),
  hint: text('hint').notNull(),
  scopes: text('scopes').array().notNull(),
  createdAt: createdAt(),
  expiresAt: moment('expires_at'),
  revokedAt: moment('revoked_at'),
  ofPortal: boolean('of_portal').notNull().default(false),
});

export const components = pgTable('components', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  name: text('name').notNull(),
  key: text('key'),
  version: text('version').notNull(),
  type: text('type').$type<ComponentType>().notNull(),
  description: text('description'),
  code: text('code').notNull(),
  codeHash: text('code_hash').notNull(),
  codeUrl: text('code_url'),
  bundle: text('bundle').notNull(),
  sourceMap: text('source_map'),
  dedupe: text('dedupe').$type<DedupeStrategy>(),
  hooks: text('hooks').array().$type<HookName[]>().notNull(),
  configurableProps: jsonb('configurable_props').$type<PropDefinition[]>().notNull(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
  dependencies: jsonb('dependencies').$type<Record<string, string>>().notNull().default({}),
  bundleHash: text('bundle_hash'),
  builtAt: moment('built_at').notNull().defaultNow(),
  bundleFormat: integer('bundle_format').notNull().default(0),
  hasAdditionalProps: boolean('has_additional_props').notNull().default(true),
  publishedAt: moment('published_at'),
  registryId: text('registry_id'),
  deletedAt: moment('deleted_at'),
  ofStep: boolean('of_step').notNull().default(false),
});

export const sources = pgTable('sources', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  userId: text('user_id').notNull(),
  componentId: text('component_id').notNull(),
  name: text('name').notNull(),
  nameSlug: text('name_slug').notNull(),
  configuredProps: jsonb('configured_props').$type<Record<string, unknown>>().notNull(),
  active: boolean('active').notNull().default(true),
  revision: integer('revision').notNull().default(1),
  busyUntil: moment('busy_until'),
  busyBy: text('busy_by'),
  hooksBegun: boolean('hooks_begun').notNull().default(false),
  changeId: text('change_id'),
  deployedAt: moment('deployed_at'),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
  deletedAt: moment('deleted_at'),
  dynamicProps: jsonb('dynamic_props').$type<PropDefinition[]>().notNull().default([]),
  preflight: text('preflight').$type<Preflight>().notNull().default('allow'),
  durability: text('durability').$type<Durability>().notNull().default('stored'),
});

export const dataStores = pgTable('data_stores', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  recordCount: bigint('record_count', { mode: 'number' }).notNull().default(0),
  bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

export const endpoints = pgTable('endpoints', {
  key: text('key').primaryKey(),
  accountId: text('account_id').notNull(),
  sourceId: text('source_id').notNull(),
  propName: text('prop_name').notNull(),
  customResponse: boolean('custom_response').notNull(),
});

export const timers = pgTable(
  'timers',
  {
    sourceId: text('source_id').notNull(),
    propName: text('prop_name').notNull(),
    accountId: text('account_id').notNull(),
    intervalSeconds: integer('interval_seconds'),
    cron: text('cron'),
    timezone: text('timezone'),
    dueMs: bigint('due_ms', { mode: 'number' }),
    anchorAt: moment('anchor_at').notNull().defaultNow(),
    generation: bigint('generation', { mode: 'number' }).notNull().default(sql`nextval('timer_generations')`),
  },
  (t) => [primaryKey({ columns: [t.sourceId, t.propName] })],
);

export const events = pgTable(
  'events',
  {
    emitterId: text('emitter_id').notNull(),
    indexedAtMs: bigint('indexed_at_ms', { mode: 'number' }).notNull(),
    seq: integer('seq').notNull(),
    accountId: text('account_id').notNull(),
    invocationId: text('invocation_id'),
    causedBy: text('caused_by'),
    traceId: text('trace_id'),
    channel: text('channel').notNull(),
    emitId: text('emit_id'),
    summary: text('summary'),
    ts: bigint('ts', { mode: 'number' }),
    data: text('data').notNull(),
  },
  (t) => [primaryKey({ columns: [t.emitterId, t.indexedAtMs, t.seq] })],
);

export const runs = pgTable('runs', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  sourceId: text('source_id').notNull(),
  kind: text('kind').notNull(),
  causedBy: text('caused_by'),
  status: text('status').$type<'ok' | 'error'>().notNull(),
  errorCode: text('error_code'),
  errorMessage: text('error_message'),
  errorStack: text('error_stack'),
  logs: text('logs').notNull(),
  startedAt: moment('started_at').notNull(),
  endedAt: moment('ended_at').notNull(),
  errorLimit: jsonb('error_limit').$type<ExceededLimit>(),
  recordedMs: bigint('recorded_ms', { mode: 'number' }),
  recordedSeq: integer('recorded_seq'),
  emitted: integer('emitted'),
  deduped: integer('deduped'),
});

export const webhooks = pgTable('webhooks', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  userId: text('user_id').notNull(),
  name: text('name'),
  description: text('description'),
  url: text('url').notNull(),
  format: text('format').$type<WebhookFormat>().notNull(),
  secret: text('secret').notNull(),
  previousSecret: text('previous_secret'),
  previousSecretUntil: moment('previous_secret_until'),
  requestHeaders: text('request_headers'),
  requestOptions: jsonb('request_options').$type<RequestOptions>(),
  requestAuth: text('request_auth'),
  clientKey: text('client_key'),
  retryScheduleSeconds: integer('retry_schedule_seconds').array(),
  timeoutSeconds: integer('timeout_seconds'),
  active: boolean('active').notNull().default(true),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
  revision: integer('revision').notNull().default(1),
  drainBefore: moment('drain_before'),
  drainPerSecond: integer('drain_per_second'),
  pacedUntil: moment('paced_until'),
  failingSince: moment('failing_since'),
  disableAfterHours: integer('disable_after_hours'),
  disableFailuresOverHours: integer('disable_failures_over_hours'),
  disabledAt: moment('disabled_at'),
  disabledReason: text('disabled_reason').$type<'failing' | 'gone'>(),
  ordering: text('ordering').$type<'none' | 'fifo'>().notNull().default('none'),
  orderingKey: text('ordering_key'),
  ratePerSecond: integer('rate_per_second'),
  maxInFlight: integer('max_in_flight'),
  adaptiveRate: jsonb('adaptive_rate').$type<AdaptiveRate>(),
  transformId: text('transform_id'),
});

export const subscriptions = pgTable('subscriptions', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  emitterId: text('emitter_id').notNull(),
  listenerId: text('listener_id').notNull(),
  eventName: text('event_name').notNull().default(''),
  filter: text('filter'),
  createdAt: createdAt(),
});

export const autoSubscriptions = pgTable('auto_subscriptions', {
  id: text('id').primaryKey(),
  accountId: text('account_id').notNull(),
  listenerId: text('listener_id').notNull(),
  eventName: text('event_name').notNull().default(''),
  filter: text('filter'),
  createdAt: createdAt(),
});

export const deliveries = pgTable(
  'deliveries',
  {
    id: text('id').notNull(),
    accountId: text('account_id').notNull(),
    webhookId: text('webhook_id').notNull(),
    emitterId: text('emitter_id').notNull(),
    indexedAtMs: bigint('indexed_at_ms', { mode: 'number' }).notNull(),
    seq: integer('seq').notNull(),
    status: text('status')
      .$type<'pending' | 'delivered' | 'failed' | 'dropped' | 'cancelled'>()
      .notNull()
      .default('pending'),
    attemptCount: integer('attempt_count').notNull().default(0),
    attempts: jsonb('attempts').$type<DeliveryAttempt[]>().notNull().default([]),
    nextAttemptAt: moment('next_attempt_at').notNull().defaultNow(),
    leasedBy: text('leased_by'),
    createdAt: createdAt(),
    errorClass: text('error_class').$type<DeliveryErrorClass>(),
    replayId: text('replay_id'),
  },
  (t) => [primaryKey({ columns: [t.webhookId, t.id] })],
);
