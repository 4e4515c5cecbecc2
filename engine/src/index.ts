export type {
  AbandonedRunRecord,
  AccountDeletion,
  AccountLimitsRecord,
  AccountRecord,
  AccountSettings,
  AccountSummary,
  ApiKeyRecord,
  AttemptRecord,
  ComponentChoice,
  ComponentRecord,
  Condition,
  EndpointRoute,
  Engine,
  AutoSubscriptionRecord,
  EventRecord,
  ExpectedRevisions,
  LogLineRecord,
  NewApiKey,
  NamedPageRequest,
  Page,
  PageRequest,
  Principal,
  RateLimitState,
  RunRecord,
  RunResponse,
  SourceCreate,
  SourceRecord,
  SourceUpdate,
  SubscriptionKey,
  SubscriptionRecord,
  Membership,
  UserRecord,
  WebhookCreate,
  WebhookRecord,
  WebhookTestResult,
  WebhookUpdate,
} from './contract/engine.ts';
export type {
  AppDefinition,
  AppField,
  AppOAuth,
  AppRecord,
  AppTest,
  CheckOutcome,
  ConnectedAccountRecord,
  DeletedAccount,
  OAuthCallback,
  OAuthClientRecord,
  OAuthOutcome,
} from './contract/apps.ts';
export type { ComponentSummary, ImportRecord, RegistryRecord, RegistrySummary } from './contract/components.ts';
export {
  ENDED_STATUSES,
  type DeliveryAttempt,
  type DeliveryChoice,
  type DeliveryRecord,
  type DeliveryStatus,
  type RedeliveryChoice,
  type WholeAttempt,
} from './contract/deliveries.ts';
export type { AnsweredRequest, CallerTrace, Span, SpanSink, Tracing } from './contract/spans.ts';
export { OidcRefusal, type OidcRefusalReason } from './people/oidc-client.ts';
export { type WebhookAuth } from './contract/webhook-requests.ts';
export type { PreviewedRequest, TransformPreview } from './contract/transforms.ts';
export type { DataStoreRecord, DataStores, StoredRecord, TaggedRecord } from './contract/data-stores.ts';
export type { Usage, UsageCounts, UsageDay, UsageRecord } from './contract/usage.ts';
export type { AuditEntry, NewAuditEntry } from './contract/audit.ts';
export { readSessionBearer } from './accounts/session-token.ts';
export type {
  AroundJoining,
  AroundReset,
  InvitationRecord,
  MemberRecord,
  NewInvitation,
  SignInClient,
  UserSessionRecord,
} from './contract/people.ts';
export type { Idempotency, KeptAnswer, KeyedRequest } from './contract/idempotency.ts';
export { type ReplayRecord, type Replays } from './contract/replays.ts';
export type { NewEvent, Publication, Publisher } from './contract/publish.ts';
export { INGEST_CODE } from './ingest/events-source.ts';
export { runIsLost } from './runs/lost-runs.ts';
export type { SampleReceiver, SampleRequest } from './contract/sample-receiver.ts';
export type {
  AccountStats,
  NodeRecord,
  Operator,
  StatCounts,
  StatRange,
  Stats,
  StatSeries,
  StatSpan,
  SubjectStats,
  WaitingStats,
} from './contract/stats.ts';
export type { EventStreamRequest, Stream, Streams } from './contract/streams.ts';
export type { NewTunnel, TunnelAnswer, TunnelRequest, Tunnels } from './contract/tunnels.ts';
export type { TraceEvent, TraceListener, TraceRecord, TraceRun } from './contract/traces.ts';
export type { ComponentProps, DynamicProps, PropForm, PropOptions } from './contract/props.ts';
export { type StackRecord, type StackResource } from './contract/stacks.ts';
export type { S3SettingsInput, S3SettingsRecord, SendRecord, Sends } from './contract/sends.ts';
export type {
  TestedFlow,
  TestedStep,
  WorkflowTest,
  WorkflowTestRecord,
  WorkflowTests,
} from './contract/workflow-tests.ts';
export type {
  DeploymentRecord,
  EnvironmentVariable,
  ExecutionError,
  ExecutionRecord,
  ExecutionStepRecord,
  SettingsInput,
  ShownJson,
  StepInputRecord,
  StepRecord,
  TriggerInput,
  TriggerRecord,
  WorkflowInput,
  WorkflowRecord,
  WorkflowSettings,
  WorkflowSummary,
} from './contract/workflows.ts';
export { REQUEST_BURST_SECONDS } from './fairness/request-rate.ts';
export { type MigratedDatabase, migrateDatabase, planDatabase } from './db/server/migrate-database.ts';
export type { DoctorCheck, DoctorOptions, DoctorReport } from './cluster/doctor/report.ts';
export { runDoctor } from './cluster/doctor/run-doctor.ts';
export { parseDnsServer } from './egress/dns-server.ts';
export { decodeBody } from './egress/decode-body.ts';
export { longHostOf } from './egress/long-host.ts';
export type { EngineOptions, Role } from './contract/engine-options.ts';
export { restAfterLongMs } from './fairness/rest-after.ts';
export { pauseAtPaceMs } from './fairness/end-at-pace.ts';
export { type RotatedSecrets, rotateSecrets } from './secrets/rotate-secrets.ts';
export { ENCRYPTION_KEY_FORM, isEncryptionKey } from './secrets/master-key.ts';
export { createRedactor, type SecretValue } from './secrets/redactor.ts';
export { hostUrlsOf } from './db/database-hosts.ts';
export { describeDatabaseError, isConnectionLost, isDatabaseUnavailable } from './db/lost-connection.ts';
export { type MadeBackup, makeBackup } from './cluster/backup/make-backup.ts';
export { type RestoredBackup, restoreBackup } from './cluster/backup/restore-backup.ts';
export { type HeldDatabase, holdDatabase } from './composition/hold-database.ts';
export { type StartedEngine, startEngine } from './composition/start-engine.ts';
export { SANDBOX_LAYERS, type SandboxLayer } from '@headwater/sandbox-runtime';
