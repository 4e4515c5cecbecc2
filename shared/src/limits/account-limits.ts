import type { Limit } from './define-limits.ts';

interface AccountLimit extends Limit {
  /** Range that an operator may set. `default` applies unless a value is set. */
  min: number;
  max: number;
}

const KB = 1024;
const MB = 1024 * KB;

/**
 * Limits of one account. The operator can set them (`PUT /v1/accounts/{id}/limits`), and a node
 * takes their defaults from HEADWATER_LIMITS. Limits of the platform are in `platform-limits.ts`.
 * docs/configuration.md is generated from both.
 */
// biome-ignore format: one limit a line
export const ACCOUNT_LIMITS = {
  memoryMb: { default: 128, min: 32, max: 512, unit: 'MB', scope: 'isolate', why: 'the heap of one isolate' },
  runCpuMs: { default: 10_000, min: 100, max: 300_000, unit: 'ms', scope: 'run', why: 'the CPU time of a run or a hook' },
  httpRunWallMs: { default: 30_000, min: 1_000, max: 750_000, unit: 'ms', scope: 'run', why: 'the wall time of a run started by HTTP, also of an execution whose workflow has no `timeout_seconds`' },
  timerRunWallMs: { default: 60_000, min: 1_000, max: 750_000, unit: 'ms', scope: 'run', why: 'the wall time of a run started by a timer, by hand or by an event of another source, also of such an execution' },
  hookWallMs: { default: 60_000, min: 1_000, max: 750_000, unit: 'ms', scope: 'hook', why: 'the wall time of a lifecycle hook' },
  executionWallMs: { default: 750_000, min: 1_000, max: 750_000, unit: 'ms', scope: 'execution', why: 'how long the steps of an execution run, together, or of its part after a wait; the `timeout_seconds` of its workflow may be less' },
  maxEventBytes: { default: MB, min: KB, max: 6 * MB, unit: 'bytes', scope: 'event', why: 'one emitted event, as JSON' },
  maxRunOutputBytes: { default: 6 * MB, min: 64 * KB, max: 12 * MB, unit: 'bytes', scope: 'run', why: 'everything that one run emits, exports, sends, returns, logs, stores and responds, together; of an execution all its steps and its event' },
  maxResultBytes: { default: 6 * MB, min: KB, max: 12 * MB, unit: 'bytes', scope: 'step', why: 'the result of one step, as JSON: what its `run` returns' },
  maxExportBytes: { default: 6 * MB, min: KB, max: 12 * MB, unit: 'bytes', scope: 'step', why: 'one value that a step exports, as JSON' },
  maxEmitsPerRun: { default: 10_000, min: 1, max: 100_000, unit: 'count', scope: 'run', why: 'the events that one run emits' },
  maxSendsPerRun: { default: 100, min: 0, max: 10_000, unit: 'count', scope: 'step', why: 'the calls of `$.send` that one step makes' },
  maxLogLinesPerRun: { default: 1_000, min: 10, max: 10_000, unit: 'count', scope: 'run', why: 'the log lines that are kept of a run' },
  maxLogLineBytes: { default: 16 * KB, min: 256, max: 64 * KB, unit: 'bytes', scope: 'run', why: 'one log line; a longer one is cut' },
  maxTimersPerRun: { default: 1_000, min: 1, max: 10_000, unit: 'count', scope: 'run', why: 'the timers that one run has open' },
  maxFetchesInFlightPerRun: { default: 32, min: 1, max: 256, unit: 'count', scope: 'run', why: 'the requests that one run has open' },
  maxFetchesPerRun: { default: 1_000, min: 1, max: 10_000, unit: 'count', scope: 'run', why: 'the requests that one run makes, each redirect that `fetch` follows among them' },
  maxFetchRequestBytes: { default: 6 * MB, min: KB, max: 12 * MB, unit: 'bytes', scope: 'request', why: 'the body of one request of a run' },
  maxFetchResponseBytes: { default: 12 * MB, min: KB, max: 12 * MB, unit: 'bytes', scope: 'answer', why: 'the body of the answer to one request of a run, decoded' },
  maxUploadBytesPerRun: { default: 64 * MB, min: KB, max: 1024 * MB, unit: 'bytes', scope: 'run', why: 'the bodies of all requests of a run together, again for each redirect that has one sent again' },
  maxDownloadBytesPerRun: { default: 256 * MB, min: KB, max: 4096 * MB, unit: 'bytes', scope: 'run', why: 'the bodies of all answers to requests of a run together, decoded, of redirects too, and as far as they were read of requests that failed or were left' },
  fetchTimeoutMs: { default: 30_000, min: 1_000, max: 300_000, unit: 'ms', scope: 'request', why: 'one request of a run, redirects included' },
  maxFetchesPerSecond: { default: 200, min: 1, max: 10_000, unit: 'per second', scope: 'account', why: 'requests of all runs of the account on one node, with bursts of ten seconds; more of them wait' },
  maxConnections: { default: 128, min: 1, max: 1_024, unit: 'count', scope: 'account', why: 'the connections that runs of the account hold on one node; more requests wait' },
  maxDeliveriesPerSecond: { default: 5_000, min: 1, max: 100_000, unit: 'per second', scope: 'account', why: 'attempts at deliveries to webhooks that one node begins, with bursts of ten seconds; more of them wait' },
  maxDeliveryConnections: { default: 256, min: 1, max: 512, unit: 'count', scope: 'account', why: 'the connections to webhooks of the account that one node holds, and so the attempts at the same time; more of them wait' },
  maxTmpBytes: { default: 32 * MB, min: 0, max: 128 * MB, unit: 'bytes', scope: 'run', why: 'the files that one run keeps below /tmp' },
  maxTmpEntries: { default: 2_000, min: 0, max: 10_000, unit: 'count', scope: 'run', why: 'files and directories that one run keeps below /tmp' },
  maxBundleBytes: { default: 24 * MB, min: 64 * KB, max: 24 * MB, unit: 'bytes', scope: 'component', why: 'a component bundled with its packages' },
  maxDbValueBytes: { default: 60 * KB, min: KB, max: MB, unit: 'bytes', scope: 'source', why: 'one value of `$.service.db`, as JSON' },
  maxDbBytes: { default: 10 * MB, min: 64 * KB, max: 1024 * MB, unit: 'bytes', scope: 'source', why: 'all keys and values of one `$.service.db`, and 64 bytes for each key' },
  maxAllDbBytes: { default: 2_048 * MB, min: 64 * KB, max: MB * MB, unit: 'bytes', scope: 'account', why: 'what all `$.service.db` of the account hold, counted in the same way' },
  maxDbReadsPerRun: { default: 10_000, min: 10, max: 100_000, unit: 'count', scope: 'run', why: 'values that one run reads from `$.service.db`' },
  maxRegistryVersions: { default: 0, min: 0, max: 1_000_000, unit: 'count', scope: 'account', why: 'the versions of components that the account may publish in the registry of the instance; 0 is none' },
  maxSources: { default: 10_000, min: 0, max: 1_000_000, unit: 'count', scope: 'account', why: 'the sources of the account' },
  maxWorkflows: { default: 1_000, min: 0, max: 100_000, unit: 'count', scope: 'account', why: 'the workflows of the account' },
  maxWebhooks: { default: 1_000, min: 0, max: 100_000, unit: 'count', scope: 'account', why: 'the webhooks of the account' },
  // Each commit of an emitter reads all that are to it.
  maxSubscriptions: { default: 2_000, min: 0, max: 1_000_000, unit: 'count', scope: 'account', why: 'the subscriptions and auto subscriptions of the account, together' },
  maxComponents: { default: 10_000, min: 0, max: 100_000, unit: 'count', scope: 'account', why: 'the components that are saved in the account: drafts, published versions, code of sources and steps, and copies from the registry' },
  maxCodeBytes: { default: 1024 * MB, min: 64 * KB, max: 102_400 * MB, unit: 'bytes', scope: 'account', why: 'the code of all those components together: source text, bundles with their packages, source maps, and definitions of props' },
  maxConfigurationBytes: { default: 256 * MB, min: 64 * KB, max: 10_240 * MB, unit: 'bytes', scope: 'account', why: 'the props of all sources, and the triggers, steps and settings of all versions of workflows that are kept, together, as JSON texts, uncompressed, and 1 KB for each' },
  maxApiKeys: { default: 100, min: 1, max: 10_000, unit: 'count', scope: 'account', why: 'the API keys of the account that are not revoked' },
  maxDataStores: { default: 100, min: 0, max: 10_000, unit: 'count', scope: 'account', why: 'the data stores of the account' },
  maxDataStoreRecords: { default: 100_000, min: 1, max: 10_000_000, unit: 'count', scope: 'data store', why: 'the records of one data store' },
  maxDataStoreBytes: { default: 100 * MB, min: 64 * KB, max: 10_240 * MB, unit: 'bytes', scope: 'data store', why: 'all keys and values of one data store, and 64 bytes for each record' },
  maxDataStoreValueBytes: { default: MB, min: KB, max: 6 * MB, unit: 'bytes', scope: 'data store', why: 'one value of a data store, as JSON' },
  maxDataStoreCallsPerRun: { default: 10_000, min: 10, max: 100_000, unit: 'count', scope: 'run', why: 'the calls on data stores that one run makes' },
  maxEnvironmentVariables: { default: 1_000, min: 0, max: 10_000, unit: 'count', scope: 'account', why: 'the environment variables of the account' },
  maxEmailsPerDay: { default: 100, min: 0, max: 100_000, unit: 'count', scope: 'account', why: 'the e-mails that `$.send.email` sends on one day (UTC)' },
  maxQueuedInvocations: { default: 200_000, min: 1, max: 100_000_000, unit: 'count', scope: 'account', why: 'runs and executions that wait in the database; requests for more get 429, and events are not heard' },
  maxQueuedBytes: { default: 512 * MB, min: 64 * KB, max: 1024 * 1024 * MB, unit: 'bytes', scope: 'account', why: 'the events that they wait with, together' },
  maxFanOutBytes: { default: 64 * MB, min: MB, max: 1024 * MB, unit: 'bytes', scope: 'run', why: 'the events of one run for all sources and workflows that hear them, once for each; beyond it they are stored and nobody hears them' },
  maxQueuedDeliveries: { default: 200_000, min: 1, max: 100_000_000, unit: 'count', scope: 'account', why: 'deliveries that wait for an attempt, half of them to one webhook; with more of them events are stored and not delivered' },
  maxPausedDeliveries: { default: 200_000, min: 0, max: 100_000_000, unit: 'count', scope: 'account', why: 'deliveries that are held for webhooks that are stopped, and drain after the start; beyond it events are stored, and their traces say that they were not held' },
  maxWaitingBytes: { default: 2048 * MB, min: 64 * KB, max: 1024 * 1024 * MB, unit: 'bytes', scope: 'account', why: 'executions that wait (suspended, delayed, to be run or tried again), with their events and steps, what `$.flow.rerun` was given and what has resumed them, and 1 KB for each; one that would wait beyond it has failed' },
  maxEventHops: { default: 10, min: 1, max: 100, unit: 'count', scope: 'event', why: 'events in a chain in which each was emitted by a source that had heard the one before' },
  maxStreams: { default: 100, min: 0, max: 10_000, unit: 'count', scope: 'account', why: 'the streams of events and log lines that the account has open on one node' },
  eventRetentionDays: { default: 30, min: 0, max: 3_650, unit: 'days', scope: 'account', why: 'the age of events, of the records of runs and executions and of deliveries that have ended; older ones are deleted; 0 is no limit' },
  auditRetentionDays: { default: 365, min: 1, max: 3_650, unit: 'days', scope: 'account', why: 'the age of entries of the audit log; older ones are deleted' },
  maxHistoryBytes: { default: 20_480 * MB, min: MB, max: 100 * MB * MB, unit: 'bytes', scope: 'account', why: 'events, records of runs and executions, sends, deliveries and traces of callers that are kept, together, as text, and 256 bytes for each; the oldest are deleted first' },
  keptWorkflowVersions: { default: 20, min: 1, max: 10_000, unit: 'count', scope: 'workflow', why: 'the newest versions of a workflow, kept although nothing uses them; older ones go when they were not used for eventRetentionDays' },
  maxRunsPerComponent: { default: 32, min: 1, max: 256, unit: 'count', scope: 'source', why: 'the runs of one source at the same time on one node; more of them wait' },
  maxRunsPerAccount: { default: 64, min: 1, max: 512, unit: 'count', scope: 'account', why: 'the runs of all sources at the same time on one node; more of them wait' },
  maxRequestsPerSecond: { default: 0, min: 0, max: 100_000, unit: 'per second', scope: 'endpoint', why: 'requests to one endpoint on one node, with bursts of ten seconds, then 429; 0 is no limit' },
} as const satisfies Record<string, AccountLimit>;

export type AccountLimitName = keyof typeof ACCOUNT_LIMITS;

/** Every limit of one account, decided. */
export type AccountLimits = Record<AccountLimitName, number>;
