/**
 * Limits of the platform, with the unit in the name; those that hold for one account and can be set are in
 * `account-limits.ts`. None of these is set from outside. docs/configuration.md lists them all, and a test holds the two
 * together.
 */
export const LIMITS = {
  /** Body of a request to an endpoint. Over it: 413. */
  maxHttpBodyBytes: 512 * 1024,
  /**
   * Bodies over smallBodyBytes are read at a pace while requests of other accounts arrive as well (within othersPresentMs): of each
   * account, largeBodyBytesPerSecond for each processor of the node. Where the node's thread is busy, requests of an account that must
   * give way (lightPerSecond) are as well, busyRequestsPerSecond for each processor; those of busyBurstMs need not wait. One that would wait longer than maxRequestWaitMs: 429.
   */
  smallBodyBytes: 16 * 1024,
  largeBodyBytesPerSecond: 512 * 1024,
  /** Of one account's bodies over smallBodyBytes: so many are made into events at a time. */
  maxBodyChecksPerTenant: 2,
  othersPresentMs: 1_000,
  /** Requests, runs and deliveries of one tenant a second, beyond which it is busy and gives way to those who are not; as many at once are none too many. */
  lightPerSecond: 400,
  lightBurst: 8,
  busyRequestsPerSecond: 200,
  busyBurstMs: 50,
  maxRequestWaitMs: 20_000,
  /** Of bodies over smallBodyBytes, or of no announced length, that one account sends, while others send as well. */
  bodyReadBytesPerSecond: 16 * 1024 * 1024,
  bodyReadBurstMs: 20,
  /** What each piece of such a body counts at least, for that pace and maxUnfinishedBodyBytes: a chunk of one byte costs as much as one of these. */
  minBodyPieceBytes: 512,
  /**
   * Of requests to the REST API with the same key, while those of other accounts arrive as well, and of all whose key the node does not
   * know or that have none, so many go on at once and the next after a rest: 500 a second. Of those to one account's endpoints 4000.
   */
  requestsAtOnce: 4,
  requestsRestMs: 8,
  endpointRequestsAtOnce: 16,
  endpointRequestsRestMs: 4,
  /**
   * Requests to the REST API that one node asks its database for at a time, of one account and of all; more of them wait, as long. It has
   * ten connections.
   */
  maxQueriesPerTenant: 2,
  maxQueries: 5,
  /** A larger answer keeps its turn for as long as the rest of it takes at this pace, where others are here (othersPresentMs). */
  smallAnswerChars: 256 * 1024,
  answerCharsPerSecond: 8 * 1024 * 1024,
  /**
   * Fields of a form sent to an endpoint; a form with more is given to the component as the string it came as. The REST API refuses forms
   * and objects with more: 400.
   */
  maxFormFields: 2_000,
  /** The header lines of one part of a multipart form; a form with a longer one arrives as a string. */
  maxPartHeadBytes: 8 * 1024,
  /** Body of a request to the REST API. */
  maxApiBodyBytes: 6 * 1024 * 1024,
  /** Source text of one component. */
  maxComponentCodeBytes: 1024 * 1024,
  /** Files of one component that is fetched from a URL; together they have at most maxComponentCodeBytes. */
  maxComponentFiles: 100,
  /**
   * What a component says of itself (its name, its props and the rest of its export), as JSON. Longer texts than the code can be have
   * been made while it was loaded, and the node has to parse them.
   */
  maxOutlineChars: 1024 * 1024,
  /** One import of a folder of components: its files of code, their bytes, and the components among them. */
  maxImportFiles: 5_000,
  maxImportBytes: 24 * 1024 * 1024,
  maxImportComponents: 1_000,
  /** Imports of one account that are under way, and that are kept when they have ended. */
  maxWaitingImports: 4,
  maxKeptImports: 20,
  /** How long a node works on one import before it turns to the next. */
  importTurnMs: 5_000,
  /** How long an account's imports rest where its builds find no room. */
  importRestMs: 10_000,
  /** How often one component of an import is begun, where its node ends each time. */
  maxImportAttempts: 3,
  /** A larger package.json of an import is passed over. */
  maxManifestBytes: 64 * 1024,
  /** Fetching a component from its URL, with the files that it imports. */
  fetchComponentMs: 30_000,
  /** Fetching the packages of a component, and bundling it with them, each. */
  buildMs: 60_000,
  /** Bundling a component without packages. */
  bundleMs: 10_000,
  /** Private memory of each process of a build: of those that fetch packages or bundle them, and of those that bundle without. */
  maxBuildMemoryMb: 1_536,
  maxBundleMemoryMb: 1_024,
  /** Builds with packages at the same time on one node, and as many without; those with packages of one tenant that wait. */
  maxConcurrentBuilds: 2,
  maxQueuedBuildsPerTenant: 32,
  /** As above, for components without packages. */
  maxQueuedBundlesPerTenant: 256,
  /** Of one build: packages, their files and bytes unpacked; one tarball; the registry's list of one package's versions. */
  maxPackagesPerBuild: 1_000,
  maxUnpackedFiles: 50_000,
  /** Names of files of its package that one import by a pattern in it may mean. */
  maxPatternFiles: 2_000,
  maxUnpackedBytes: 384 * 1024 * 1024,
  maxTarballBytes: 64 * 1024 * 1024,
  maxPackumentBytes: 64 * 1024 * 1024,
  /** What one node keeps of the registry on disk. */
  maxPackageCacheBytes: 2 * 1024 * 1024 * 1024,
  /** Files of it; each counts for those bytes as what it takes of the disk. */
  maxPackageCacheFiles: 20_000,
  /** How long the registry's word on which versions there are is believed. */
  packageTrustMs: 600_000,
  /** How long the bundle of the same code is used again where an import does not name an exact version. */
  bundleReuseMs: 3_600_000,
  /** One configured prop, as JSON. */
  maxPropValueBytes: 64 * 1024,
  /** All secret props of one source together, as JSON: whatever its runs put out is searched for them. */
  maxSecretPropsBytes: 64 * 1024,
  /** What may not leave one run: its secret props, the secrets of its connected accounts and the environment variables that it reads, together. */
  /** What all app props of one run get of their accounts: each gets all of it, also where they name the same one. */
  maxRunAuthBytes: 8 * 1024 * 1024,
  maxRunSecretBytes: 256 * 1024,
  /** What a value of `$.service.db` counts for maxDbBytes and maxRunOutputBytes beside its bytes and those of its key. */
  dbEntryOverheadBytes: 64,
  /** What each row of an account's history counts for maxHistoryBytes beside its texts: a million tiny events are no small history. */
  historyRowBytes: 256,
  /** What an execution that waits counts for maxWaitingBytes beside its texts. */
  waitingOverheadBytes: 1024,
  /** History is counted by the time of its writing, and cut, in parts so long. */
  historyPartMs: 60_000,
  /** A key of `$.service.db`. */
  maxDbKeyBytes: 1024,
  /** A key of a data store. */
  maxDataStoreKeyBytes: 1024,
  /** What a component is given at once of a list of keys or entries: so many records, and so many bytes unless one has more. */
  dataStorePageRecords: 1_000,
  dataStorePageBytes: 1024 * 1024,
  /** The longest life that a record of a data store can be given. */
  maxDataStoreTtlSeconds: 10 * 366 * 24 * 3600,
  /** Operations on data stores that runs of one account have under way on one node; more of them wait. */
  maxDataStoreCallsPerTenant: 2,
  /** One with a larger value keeps its turn for as long as the rest of it takes at this pace. */
  smallDataStoreValueChars: 16 * 1024,
  dataStoreCharsPerSecond: 4 * 1024 * 1024,
  /** Values that wait with them. */
  maxDataStoreBytesPerTenant: 96 * 1024 * 1024,
  /** What `additionalProps` answers, as JSON, and how long it can be deployed with. */
  maxDynamicPropsBytes: 256 * 1024,
  dynamicPropsMs: 24 * 3600 * 1000,
  /** Answers of `additionalProps` that are kept of one account; the oldest go first. */
  maxDynamicPropsPerAccount: 200,
  /** What the `options` of a prop answer, as JSON. */
  maxPropOptionsBytes: 1024 * 1024,
  /** Runs of `options` and `additionalProps` of one account at the same time on one node. */
  maxPropRunsPerTenant: 4,
  /** A larger answer keeps its turn for as long as the rest of it takes at this pace, so the next of those runs begins later. */
  smallPropAnswerChars: 16 * 1024,
  propAnswerCharsPerSecond: 1024 * 1024,
  /** How long a client waits for the answer of a workflow that runs its executions in turn, before this one has its turn. */
  maxTurnWaitMs: 60_000,
  /** Tests of workflows, or of steps of them, that one tenant has under way on a node at a time. */
  maxWorkflowTestsPerTenant: 4,
  /** Of the code in one test that is not saved, with its packages and source maps. */
  maxUnsavedBundleBytes: 64 * 1024 * 1024,
  /** Code of components, with packages and source maps, that runs of one account hold on one node at the same time; more of them wait. */
  maxHeldBundleChars: 128 * 1024 * 1024,
  /** Props of sources that one node keeps in memory for their next runs, with secrets opened; what they take there, about. */
  maxCachedSourceBytes: 64 * 1024 * 1024,
  /** The forms of secrets that runs are searched for, which one node keeps for the next runs of the same. */
  maxCachedRedactorBytes: 64 * 1024 * 1024,
  /**
   * Calls to the platform (log lines, timers, requests) that a run makes in one uninterrupted stretch of its code, besides as many as
   * maxEmitsPerRun allows. The process takes 10 000 in 50 ms.
   */
  maxCallsPerTurn: 10_000,
  /**
   * Calls of `crypto.subtle` and on data stores that runs of one isolate have open, and what they hold together: the process takes them
   * from a queue that has no bound of its own.
   */
  maxOpenCalls: 1_000,
  maxOpenCallBytes: 48 * 1024 * 1024,
  /** Runs, and components to be loaded, of one tenant that wait on one node for a sandbox process or for a turn in one; as many that are to be alone in theirs. */
  maxQueuedRunsPerTenant: 2_000,
  /** A run commits a part of what it emitted after this many emits, bytes or milliseconds. */
  partialCommitEmits: 1_000,
  partialCommitBytes: 2 * 1024 * 1024,
  partialCommitMs: 5_000,
  /** Ids that the `unique` dedupe strategy remembers, first in, first out. */
  uniqueCacheSize: 100,
  /** Characters of an emitted event's id, channel name and summary. */
  maxEventIdChars: 512,
  maxChannelChars: 128,
  maxSummaryChars: 1_000,
  /** Events that event_summaries answers with and streams replay. */
  recentEvents: 100,
  /** Of one source or workflow in one commit: notes of what was not heard or not stored; ids in one, and their characters. */
  maxMissedRows: 100,
  maxMissedIds: 20,
  maxMissedIdChars: 128,
  /** How long such a note is kept at most: a source that asks for the same list again and again makes one each time. */
  missedEventDays: 7,
  /** One trace as it is shown: its runs and executions, their steps, events, deliveries and what was missed, each; log lines. */
  maxTraceRows: 500,
  /** Deletions of workflows, and of events, of one account on one node: one goes on, the others wait. Each may be thousands of rows. */
  maxDeletionsPerTenant: 100,
  /** Requests for traces of one account on one node: one is put together, the others wait. */
  maxTracesPerTenant: 16,
  maxTraceLogBytes: 1024 * 1024,
  /** Webhooks and subscriptions of the account that are looked at for it. */
  maxTraceWebhooks: 200,
  maxTraceSubscriptions: 1_000,
  /**
   * Listeners of all its events together. Each of the events may have each of the subscriptions; what got one or runs for one is
   * less than this in any case. Attempts of one delivery or send, the newest.
   */
  maxTraceListeners: 2_500,
  maxTraceAttempts: 10,
  /** Streams that one node has open, of all accounts. */
  maxStreams: 2_000,
  /** A stream sends a sign of life so often, and its key is looked at again so often. */
  streamHeartbeatMs: 15_000,
  streamKeyCheckMs: 15_000,
  /** How long clients are told to wait before they connect again. */
  streamRetryMs: 1_000,
  /** A client that takes nothing for so long is cut off; it can go on where it was. */
  streamStallMs: 30_000,
  /**
   * How often a node looks for what others have committed, and for what executions have logged; how long a stream waits
   * between two reads.
   */
  streamPollMs: 250,
  streamLogPollMs: 500,
  streamPauseMs: 50,
  /** What a stream reads at once; reads of one account under way on one node. */
  streamBatchEvents: 100,
  streamBatchBytes: 256 * 1024,
  /** Events of the emitter, of whatever channel, that it looks through for them; a replay begins with these at the earliest. */
  maxStreamScanEvents: 10_000,
  maxStreamReadsPerTenant: 2,
  /** At which each of them reads: the next one begins when the bytes of the one before would have been read. */
  streamReadBytesPerSecond: 1024 * 1024,
  /** What streams of one account have read on one node and their clients have not taken; beyond it they do not read on. */
  maxStreamBytesPerTenant: 16 * 1024 * 1024,
  /** Where counting the events of a list stops. */
  maxCountedEvents: 10_000,
  /** What one page of a list of events looks through where its channel has no index; its cursor leads on from there. */
  maxScannedEvents: 20_000,
  /** Event data longer than this is cut in event_summaries unless `expand=event`. */
  summaryEventBytes: 1024,
  /**
   * An event, export or return value longer than this is cut where an execution is shown, unless `expand` says otherwise; what is responded
   * in a test of a workflow, in any case.
   */
  shownStepBytes: 64 * 1024,
  /** Event data that event_summaries answers with `expand=event`, together; older events are cut as without it. */
  maxSummariesBytes: 16 * 1024 * 1024,
  /** Log lines that a list of runs shows, together; the newest run has its own in any case. */
  maxShownLogBytes: 2 * 1024 * 1024,
  /** Attempts that are kept of a delivery; its owner may have it made again as often as they like, and the oldest go. */
  maxKeptDeliveryAttempts: 100,
  /** Loading a component to see what it exports, when it is saved. An account whose memoryMb is more than describeMemoryMb has that much. */
  describeCpuMs: 4_000,
  describeWallMs: 10_000,
  describeMemoryMb: 128,
  /** Of one request: its URL, and its header names and values together. */
  maxFetchUrlChars: 16_384,
  /** Of a URL, what names its host, as it is written: DNS has names of 253 characters at most. */
  maxUrlHostChars: 512,
  maxFetchHeaderBytes: 64 * 1024,
  /** Lines: an empty one costs as much as any other. Servers take some hundred. */
  maxFetchHeaders: 1_000,
  /** Of a request the method; of a request, and of what a run answers one with, the name of a header, and URL and headers as JSON. */
  maxFetchMethodChars: 256,
  maxHeaderNameChars: 256,
  maxHeadChars: 256 * 1024,
  maxFetchRedirects: 10,
  /** Headers of one response, names and values together; as Node's own clients have it. */
  maxFetchResponseHeaderBytes: 16 * 1024,
  /**
   * What each piece of an answer's body counts at least, for maxFetchBytesPerTenant, fetchReadBytesPerSecond, maxDrainedResponseBytes
   * and maxFetchFramingBytes: a chunk of one byte costs as much as one of these.
   */
  minFetchPieceBytes: 512,
  /** What else comes with an answer (headers, interim responses, lengths and extensions of chunks) beyond as much as its body counts. */
  maxFetchFramingBytes: 512 * 1024,
  /** Addresses of one name, all of which are checked before a connection is made at the first few. */
  maxNameAddresses: 512,
  /** Names of one tenant that wait until the system is asked for them (those without a dot, and those that DNS does not know). */
  maxSystemLookupsWaiting: 16,
  /** Answers to fetches of one tenant, read while others are here (othersPresentMs); those of fetchReadBurstMs need not wait. */
  fetchReadBytesPerSecond: 32 * 1024 * 1024,
  fetchReadBurstMs: 50,
  /** What the sandbox processes of one tenant say, read while others are here; what takes sandboxReadBurstMs need not wait. */
  sandboxReadBytesPerSecond: 16 * 1024 * 1024,
  sandboxReadBurstMs: 20,
  /** Connections to hosts outside that one node keeps open without a request, of all tenants together; the oldest are closed. */
  maxIdleConnections: 1_024,
  /** Request and response bytes of fetches that one tenant may have in memory on one node at the same time. */
  maxFetchBytesPerTenant: 96 * 1024 * 1024,
  /** Connecting to a host outside, DNS included; part of the timeout of whatever connects. */
  connectTimeoutMs: 10_000,
  /**
   * Invocations that one node holds in memory, of one tenant at most half of them; what comes beyond is stored for whichever
   * node is free. Their events' bytes.
   */
  maxHeldInvocations: 4_000,
  maxHeldInvocationBytes: 128 * 1024 * 1024,
  /** Times an invocation is started again because its sandbox or its node ended without a result. */
  maxInvocationAttempts: 3,
  /** A delivery attempt: connect + answer. */
  deliveryTimeoutMs: 15_000,
  /** Bytes of a webhook's answer that are kept with the attempt. */
  maxStoredResponseBytes: 1_024,
  /** Bytes of an answer that are read beyond those and thrown away, so that the connection can be used again. */
  maxDrainedResponseBytes: 64 * 1024,
  /** Delivery attempts at the same time on one node: to one webhook, and in all. */
  maxDeliveriesPerWebhook: 32,
  maxDeliveriesInFlight: 1_024,
  /**
   * Deliveries that one node holds in memory, waiting or in flight: of one webhook, in all, and their events' bytes. One tenant
   * has at most half of it.
   */
  maxHeldDeliveriesPerWebhook: 2_000,
  maxHeldDeliveries: 4_000,
  maxHeldDeliveryBytes: 128 * 1024 * 1024,
  /** Deliveries that one turn of a webhook's lane takes. */
  deliveryLaneBatch: 64,
  /** What runs and steps of one tenant put out that is more in one commit is committed at this pace, while others are here. */
  smallCommitChars: 256 * 1024,
  commitCharsPerSecond: 8 * 1024 * 1024,
  /** A turn of a lane ends once the texts of what it takes (events, payloads of sends) are larger than this together. */
  maxClaimBytes: 1024 * 1024,
  /** What is larger is taken at this pace of one tenant, while others are here (othersPresentMs). */
  smallClaimChars: 256 * 1024,
  claimCharsPerSecond: 8 * 1024 * 1024,
  /** Deliveries, and sends, of which larger ones begin at this pace, while others are here. */
  smallSendChars: 64 * 1024,
  sendCharsPerSecond: 16 * 1024 * 1024,
  /** A lane that found no room on a node comes back after this. */
  deliveryLaneRetryMs: 1_000,
  /** Deliveries that one request makes due again. */
  maxRedeliveries: 10_000,
  /** How long a stopping node waits for attempts in flight before it cuts them off. */
  deliveryDrainMs: 5_000,
  /** Of one account: accounts of apps that are connected. */
  maxConnectedAccounts: 1_000,
  /** Values of the fields of one connected account, together. */
  maxCredentialsBytes: 64 * 1024,
  /** From the start of an OAuth flow to its callback; flows of one account at the same time, of which the oldest end. */
  oauthStateSeconds: 600,
  maxOAuthStatesPerAccount: 100,
  /** What a provider gives: an authorization code, and each token. */
  maxOAuthCodeChars: 4_096,
  maxOAuthTokenChars: 16 * 1024,
  /** A request to a provider's token endpoint and the like, and its answer. */
  providerTimeoutMs: 15_000,
  maxProviderAnswerBytes: 256 * 1024,
  /** An answer of a token endpoint that is a form. Of as many bytes as above, one made for it holds the thread a third of a second. */
  maxProviderFormBytes: 16 * 1024,
  /** Connected accounts that one node keeps in memory, opened; what they take there, about. */
  maxCachedAuthBytes: 32 * 1024 * 1024,
  /** How long one node alone may fetch new tokens of a connected account: longer than the request takes at most. */
  refreshLeaseSeconds: 30,
  /** One version of a workflow. */
  maxWorkflowSteps: 100,
  maxWorkflowTriggers: 50,
  /** Its steps as JSON, each with the definitions of its component's props: defaults are stored with each step, and definitions shown. */
  maxWorkflowVersionBytes: 8 * 1024 * 1024,
  /** One `{{…}}`, and how deep it is nested; all those of one version of a workflow, which are parsed when it is deployed. */
  maxExpressionChars: 10_000,
  maxExpressionDepth: 200,
  maxWorkflowExpressions: 5_000,
  maxWorkflowExpressionChars: 512 * 1024,
  /** What the settings of a workflow may be. */
  maxWorkflowTimeoutSeconds: 750,
  maxWorkflowConcurrency: 10_000,
  maxThrottleLimit: 1_000_000,
  maxThrottleIntervalSeconds: 24 * 3600,
  maxWorkflowQueueLimit: 1_000_000,
  maxStepRetries: 10,
  /** Of a step; it is a name in expressions. */
  maxNamespaceChars: 64,
  /** A name given to `$.export`. */
  maxExportNameChars: 128,
  /** What `$.flow` can wait for, and how often `$.flow.rerun` can be told to run a step again. */
  maxStepWaitMs: 365 * 24 * 3600 * 1000,
  maxStepReruns: 1_000,
  /** An environment variable. */
  maxEnvironmentNameChars: 128,
  maxEnvironmentValueBytes: 64 * 1024,
  /** Values of environment variables that one node keeps in memory, opened. */
  maxCachedEnvironmentBytes: 32 * 1024 * 1024,
  /** One attempt of `$.send.http`, and one upload or e-mail. */
  sendTimeoutMs: 5_000,
  uploadTimeoutMs: 30_000,
  /** What an S3 server answers to an upload: nothing, or a short error. It is XML, of which megabytes take the thread seconds. */
  maxUploadAnswerBytes: 64 * 1024,
  /** Of one send: its newest attempts, which its owner may let begin anew as often as they like. */
  maxKeptSendAttempts: 50,
  /** Attempts of sends at the same time on one node: to one host (or e-mails, or one bucket), of one tenant, and of all. */
  maxSendsPerHost: 16,
  maxSendsPerTenant: 32,
  maxSendsInFlight: 256,
  /** Sends that one node holds in memory, of one tenant at most half of them; their texts. */
  maxHeldSends: 2_000,
  maxHeldSendBytes: 64 * 1024 * 1024,
  /** Subject, text and HTML of one e-mail together. */
  maxEmailBytes: 1024 * 1024,
  maxEmailSubjectChars: 500,
  /** What `$.send.s3` was given in one interval goes into one object for each bucket and prefix. */
  s3UploadIntervalMs: 60_000,
  maxS3LinesPerObject: 5_000,
  maxS3ObjectBytes: 12 * 1024 * 1024,
  maxS3PrefixChars: 512,
  maxNameChars: 256,
  /** The longest address that mail can be sent to (RFC 5321), with room to spare. */
  maxEmailChars: 320,
  maxDescriptionChars: 4_096,
  maxUrlChars: 2_048,
  /** Lists. */
  defaultPageSize: 10,
  maxPageSize: 100,
  /**
   * Props of the sources that one page shows, configured ones and definitions, and values of the records of a data store; a page with
   * more of them has fewer entries, one at least.
   */
  maxPageBytes: 2 * 1024 * 1024,
  /** Smallest interval of a timer. */
  minTimerIntervalSeconds: 1,
  maxTimerIntervalSeconds: 366 * 24 * 3600,
  /** A cron expression. */
  maxCronChars: 512,
  /** Nesting of JSON that the REST API takes: deeper values overflow the stack of whoever serialises them. */
  maxJsonDepth: 128,
  /**
   * Values in the JSON of one request to the REST API, lists and objects among them, and names of members that differ: they take
   * time, whatever their bytes.
   */
  maxApiJsonValues: 500_000,
  maxApiJsonLists: 100_000,
  maxApiJsonNames: 25_000,
  maxIdChars: 256,
  maxCursorChars: 512,
  /** `include` and `exclude`: the fields that an answer is to have. */
  maxFieldsChars: 2_048,
  /** Request line and headers together; over it: 431. */
  maxHeaderBytes: 32 * 1024,
  /** What is still read and thrown away of a body that was refused, so that its sender gets to read the answer. */
  maxDrainBytes: 8 * 1024 * 1024,
  drainMs: 5_000,
  /** Requests on one connection that wait for the answer of an earlier one; with more of them it is closed. */
  maxPipelinedRequests: 20,
  /** Connections of clients; beyond it one on which nothing was ever sent, or that is idle, makes room, or the new one is refused. */
  maxClientConnections: 10_000,
  /** Answers of one account that clients have not read yet, on one node; beyond it those that have waited longest are cut off. */
  maxUnreadAnswerBytes: 64 * 1024 * 1024,
  /** What has arrived of bodies larger than smallBodyBytes that are not complete, in the same way. */
  maxUnfinishedBodyBytes: 128 * 1024 * 1024,
  /** Smaller answers do not count. */
  smallAnswerBytes: 16 * 1024,
  /** What an answer tells of errors: this many of them, each text cut after so many characters. */
  maxProblemErrors: 100,
  maxProblemTextChars: 4_000,
  /** A client that takes nothing of its answer for so long is cut off. */
  answerStallMs: 30_000,
  /** From the first byte of a connection to the end of the headers, and to the end of the body. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  /** An idle connection is kept longer than usual load balancers keep theirs (60 s), so that they never write into a closing one. */
  keepAliveMs: 65_000,
  /** How long /healthz waits for the engine's word. */
  readyCheckMs: 2_000,
  /** Without an answer of the database to what a node stores, its connections are given up and made anew. */
  databaseSilenceMs: 30_000,
  /** From the first SIGTERM to the forced end. */
  shutdownMs: 10_000,
  minApiKeyChars: 20,
} as const;
