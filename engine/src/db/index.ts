export { addCounted } from './add-counted.ts';
export {
  type Batcher,
  type BatcherOptions,
  type BatcherWatch,
  createBatcher,
  growingInterval,
  isDataError,
} from './batcher.ts';
export { type ChangeLease, leaseLost, type LeaseTerms } from './change-lease.ts';
export { chooseSlug } from './choose-slug.ts';
export { fitsClaim, mayLeaveMore } from './claim-bytes.ts';
export { createCountedFlush } from './counted-flush.ts';
export { hostUrlsOf } from './database-hosts.ts';
export { BIGINT_AS_NUMBER, type Database, openDatabase, type Sql, type Transaction } from './database.ts';
export { and, count, desc, eq, getTableColumns, inArray, isNull, or, sql } from './drizzle.ts';
export { every } from './every.ts';
export { failsEachTime, mayBeOneItems, wasHeldUp } from './fails-each-time.ts';
export { createHeavyTurns, type Turns } from './heavy-turns.ts';
export { addJobs, type JobSpec, MAX_JOB_ATTEMPTS } from './jobs/add-jobs.ts';
export { createJobCrowds, crowdPriority, type JobCrowds } from './jobs/job-crowds.ts';
export { type JobRunner, startJobRunner } from './jobs/job-runner.ts';
export { createLaneTurns, type LaneTurns } from './jobs/lane-turns.ts';
export { createPostponedLanes, type PostponedLanes } from './jobs/postponed-lanes.ts';
export {
  type DeleteAccountPayload,
  type DeliverAccountPayload,
  type DeliverWebhookPayload,
  type FireTimerPayload,
  type ReplayEventsPayload,
  type RunSourcePayload,
  type SendPayload,
  TASKS,
  type WakeExecutionPayload,
  type WebhookBacklogPayload,
} from './jobs/tasks.ts';
export { freeLostJobs, unlockJobs } from './jobs/unlock-jobs.ts';
export { decodeKeyCursor, encodeKeyCursor } from './key-cursor.ts';
export type { LeaseCheck } from './lease-check.ts';
export { lockChanges } from './lock-changes.ts';
export { MAX_LOCK_MS, setLockTimeout } from './lock-timeout.ts';
export { longTexts } from './long-texts.ts';
export {
  codeOf,
  describeDatabaseError,
  isConnectionLost,
  isDatabaseUnavailable,
  cannotHaveCommitted,
  retryWhileAway,
  retryUntilDatabaseBack,
  wasRolledBack,
} from './lost-connection.ts';
export {
  ACCOUNT_CHANGED_CHANNEL,
  CONNECTED_ACCOUNT_CHANGED_CHANNEL,
  ENVIRONMENT_CHANGED_CHANNEL,
  NODE_LISTENS_CHANNEL,
  notifyAccountChanged,
  notifyConnectedAccountChanged,
  notifyEnvironmentChanged,
  notifyNodeListens,
  notifySourceChanged,
  notifyWebhookChanged,
  SOURCE_CHANGED_CHANNEL,
  WEBHOOK_CHANGED_CHANNEL,
} from './notify-changed.ts';
export {
  checkPageSize,
  countFitting,
  decodeCursor,
  encodeCursor,
  type IdPage,
  inPageOrder,
  namedLike,
  notACursor,
  readPage,
} from './paging.ts';
export { postgresAt } from './postgres-at.ts';
export { type ListeningNode, readListeningNodes, readLiveNodes } from './read-live-nodes.ts';
export { rowsOf } from './rows-of.ts';
export { accounts, autoSubscriptions, components, dataStores, deliveries, subscriptions, webhooks } from './schema.ts';
export { keepSecretFile, prepareDataDir, replaceSecretFile, syncFolder } from './server/data-dir.ts';
export { findCluster, keepFromRoot } from './server/data-owner.ts';
export { inspectServer, type ServerState } from './server/inspect-server.ts';
export { joinDatabase } from './server/join-database.ts';
export { migrateDatabase, type MigratedDatabase, planDatabase } from './server/migrate-database.ts';
export { checkKnownMigrations, listMigrations, migrate } from './server/migrate.ts';
export { DATABASE_NAME, describeUrl, MIN_SERVER_VERSION, prepareDatabase } from './server/prepare-database.ts';
export { cutJson, isCut, shown } from './shown-json.ts';
export { type Stop, stopInReverse, type Stops } from './stop-in-reverse.ts';
export { rollBackReserved } from './transactions.ts';
export { createWatchdog, type Watchdog } from './watchdog.ts';
