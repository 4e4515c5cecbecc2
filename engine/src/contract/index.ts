export type {
  AccountChange,
  AccountDeletion,
  AccountHistory,
  AccountLimitsRecord,
  AccountRecord,
  Accounts,
  AccountSettings,
  AccountSummary,
  ApiKeyRecord,
  Membership,
  NewApiKey,
  Owned,
  UserRecord,
} from './accounts.ts';
export {
  type AppDefinition,
  type AppField,
  type AppOAuth,
  type AppTest,
  isSecretField,
  type StoredApp,
} from './app-definition.ts';
export type {
  AppRecord,
  Apps,
  AroundConnecting,
  CheckOutcome,
  ConnectedAccountCreate,
  ConnectedAccountRecord,
  ConnectedAccounts,
  DeletedAccount,
  OAuthCallback,
  OAuthClientInput,
  OAuthClientRecord,
  OAuthOutcome,
  OAuthStart,
} from './apps.ts';
export type { Archives } from './archives.ts';
export type { Audit, AuditChoice, AuditEntry, NewAuditEntry } from './audit.ts';
export type {
  AttemptRecord,
  Condition,
  Durability,
  ExpectedRevisions,
  Page,
  PageRequest,
  Preflight,
  Principal,
  RateLimitState,
  SourcePageRequest,
} from './base.ts';
export { changedMeanwhile, checkRevision } from './check-revision.ts';
export type {
  CodeUse,
  ComponentChoice,
  ComponentListRequest,
  ComponentRecord,
  Components,
  ComponentSummary,
  ImportedComponent,
  ImportRecord,
  Imports,
  ImportScope,
  Registry,
  RegistryRecord,
  RegistrySearch,
  RegistrySummary,
  SourceCreate,
} from './components.ts';
export { checkCondition, contentTag } from './content-tag.ts';
export type { DataStoreRecord, DataStores, DataStoreUpdate, StoredRecord, TaggedRecord } from './data-stores.ts';
export {
  type AttemptPhases,
  type AttemptTrigger,
  type DeliveryAttempt,
  type DeliveryChoice,
  type DeliveryErrorClass,
  type DeliveryRecord,
  type DeliveryStatus,
  ENDED_STATUSES,
  type EndedStatus,
  type MatchingChoice,
  type RedeliveryChoice,
  type WebhookHealth,
  type WholeAttempt,
} from './deliveries.ts';
export type { EngineOptions, Role } from './engine-options.ts';
export type {
  EndpointRoute,
  Engine,
  Ingest,
  RunRecord,
  RunResponse,
  Sessions,
  SourceRecord,
  Sources,
  SourceUpdate,
} from './engine.ts';
export type {
  EventHistoryRequest,
  EventRecord,
  Events,
  EventSearchRequest,
  LogLineRecord,
  NewestLines,
} from './events.ts';
export {
  findCountFault,
  findTextFault,
  type GivenCount,
  longHostFault,
  refuseField,
  throwFields,
} from './field-faults.ts';
export type { ClaimedKey, Idempotency, KeptAnswer, KeyedRequest, KeyOutcome } from './idempotency.ts';
export type { Log } from './log.ts';
export type {
  Acceptance,
  AroundJoining,
  AroundReset,
  BegunPasskey,
  InvitationRecord,
  MemberRecord,
  NewInvitation,
  PasskeyCredential,
  PasskeyProof,
  PasskeyRecord,
  People,
  SignInClient,
  StoredPasskey,
  UserSessionRecord,
} from './people.ts';
export type { ComponentProps, DynamicProps, PropForm, PropOptions } from './props.ts';
export type { NewEvent, Publication, Publisher } from './publish.ts';
export type { ReplayRecord, ReplayRequest, Replays } from './replays.ts';
export type { AbandonedRunChoice, AbandonedRunRecord, AbandonedRuns } from './runs.ts';
export type { SampleReceiver, SampleRequest } from './sample-receiver.ts';
export type { S3SettingsInput, S3SettingsRecord, SendRecord, Sends } from './sends.ts';
export type {
  AnsweredRequest,
  CallerTrace,
  ExecutionSpans,
  Span,
  SpanSink,
  TracedExecution,
  TracedStep,
  Tracing,
} from './spans.ts';
export type { StackRecord, StackResource, Stacks } from './stacks.ts';
export type {
  AccountStats,
  NodeRecord,
  Operator,
  StatCounter,
  StatCounts,
  StatRange,
  Stats,
  StatSeries,
  StatSpan,
  SubjectStats,
  WaitingStats,
} from './stats.ts';
export type { EventStreamRequest, Stream, Streams } from './streams.ts';
export type { MissReason, TraceEvent, TraceListener, TraceRecord, TraceRun, Traces, TraceStep } from './traces.ts';
export type { PreviewedRequest, TransformPreview, TransformPreviewRequest } from './transforms.ts';
export type { NewTunnel, TunnelAnswer, TunnelRequest, Tunnels } from './tunnels.ts';
export type { CountedUse, Usage, UsageCounts, UsageDay, UsageRecord } from './usage.ts';
export type {
  AdaptiveRate,
  RequestOptions,
  ShownAuth,
  ShownRequest,
  SignatureScheme,
  WebhookAuth,
  WebhookFormat,
  WebhookRequestSettings,
} from './webhook-requests.ts';
export type {
  AutoSubscriptionRecord,
  AutoSubscriptions,
  EmitterName,
  SubscriptionKey,
  SubscriptionRecord,
  Subscriptions,
  WebhookCreate,
  WebhookRecord,
  Webhooks,
  WebhookTest,
  WebhookTestResult,
  WebhookUpdate,
} from './webhooks.ts';
export type {
  TestedFlow,
  TestedResponse,
  TestedStep,
  WorkflowTest,
  WorkflowTestRecord,
  WorkflowTests,
} from './workflow-tests.ts';
export type {
  DeploymentRecord,
  Environment,
  EnvironmentVariable,
  ExecutionError,
  ExecutionRecord,
  Executions,
  ExecutionStatus,
  ExecutionStepRecord,
  FailedExecutionChoice,
  SettingsInput,
  ShownJson,
  StepInputRecord,
  StepRecord,
  TriggerInput,
  TriggerRecord,
  WorkflowInput,
  WorkflowRecord,
  Workflows,
  WorkflowSettings,
  WorkflowSummary,
} from './workflows.ts';
