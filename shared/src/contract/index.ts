/*
 * One schema for each resource: what answers have of it, what the OpenAPI document says about it,
 * and the types of the engine, the API and the command line. Only the API needs them at run time.
 */
export { abandonedRunSchema, retriedSchema } from './abandoned-run.ts';
export { accountLimitsSchema } from './account-limits.ts';
export { accountSettingsSchema } from './account-settings.ts';
export {
  accountDeletionSchema,
  accountSummarySchema,
  apiKeySchema,
  newAccountSchema,
  newApiKeySchema,
  userSchema,
} from './account.ts';
export {
  type AppDefinition,
  appDefinitionSchema,
  type AppField,
  type AppOAuth,
  appOAuthSchema,
  appParameters,
  appSchema,
  type AppTest,
  appTestSchema,
  type OAuthClientRecord,
  oauthClientSchema,
} from './app.ts';
export { auditEntrySchema } from './audit-entry.ts';
export {
  componentSchema,
  componentSummarySchema,
  registryComponentSchema,
  registrySummarySchema,
} from './component.ts';
export {
  checkedAccountSchema,
  connectedAccountSchema,
  deletedAccountSchema,
  startedFlowSchema,
} from './connected-account.ts';
export { invitationSchema, memberSchema, newInvitationSchema, userSessionSchema } from './member.ts';
export { begunPasskeySchema, createdPasskeySchema, passkeySchema, usedPasskeySchema } from './passkey.ts';
export { dataStoreSchema, recordSchema } from './data-store.ts';
export {
  attemptsSchema,
  type Delivery,
  DELIVERY_ERROR_CLASSES,
  DELIVERY_STATUSES,
  deliveryAttemptSchema,
  deliverySchema,
  discardSchema,
  redeliverySchema,
  retrySchema,
  wholeAttemptSchema,
} from './delivery.ts';
export { environmentVariableSchema } from './environment-variable.ts';
export { eventSummarySchema } from './event.ts';
export { exceededLimitSchema } from './exceeded-limit.ts';
export {
  EXECUTION_STATUSES,
  executionErrorSchema,
  executionSchema,
  executionStepSchema,
  logLineSchema,
} from './execution.ts';
export { publicationSchema } from './publication.ts';
export type { CamelCase, ReadonlyRecordOf, RecordOf, Shown } from './record.ts';
export { importSchema } from './registry-import.ts';
export { type Replay, replaySchema } from './replay.ts';
export { sampleReceiverSchema, sampleRequestSchema } from './sample-receiver.ts';
export { s3SettingsSchema, sendSchema } from './send.ts';
export { invocationSchema, runSchema, sourceSchema } from './source.ts';
export { type Stack, STACK_RESOURCE_KINDS, stackSchema } from './stack.ts';
export { usageSchema } from './usage.ts';
export { accountStatsSchema, nodeSchema, statSeriesSchema, subjectStatsSchema, waitingStatsSchema } from './stats.ts';
export {
  type AutoSubscriptionRecord,
  autoSubscriptionSchema,
  type Subscription,
  type SubscriptionRecord,
  subscriptionSchema,
} from './subscription.ts';
export { exceed, textParameter } from './text-parameter.ts';
export { traceEventSchema, traceListenerSchema, traceRunSchema, traceSchema } from './trace.ts';
export { transformPreviewSchema } from './transform.ts';
export {
  FORMATS,
  secretRotationSchema,
  webhookAuthSchema,
  webhookSchema,
  webhookSummarySchema,
  webhookTestSchema,
} from './webhook.ts';
export { testedStepSchema, workflowTestSchema } from './workflow-test.ts';
export {
  deploymentSchema,
  startedExecutionSchema,
  triggerSchema,
  workflowSchema,
  workflowSettingsSchema,
  workflowStepSchema,
  workflowSummarySchema,
} from './workflow.ts';
