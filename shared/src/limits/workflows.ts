/** Workflows: their versions and settings, their steps, tests of them, and executions that wait. */
export const WORKFLOW_LIMITS = {
  /** What an execution that waits counts for maxWaitingBytes beside its texts. */
  waitingOverheadBytes: 1024,
  /**
   * How long a client waits for the answer of a workflow that runs its executions in turn, before
   * this one has its turn.
   */
  maxTurnWaitMs: 60_000,
  /** Tests of workflows, or of steps of them, that one tenant has under way on a node at a time. */
  maxWorkflowTestsPerTenant: 4,
  /** Of the code in one test that is not saved, with its packages and source maps. */
  maxUnsavedBundleBytes: 64 * 1024 * 1024,
  /**
   * An event, export or return value longer than this is cut where an execution is shown, unless
   * `expand` says otherwise; what is responded in a test of a workflow, in any case.
   */
  shownStepBytes: 64 * 1024,
  /**
   * What an execution records of the evaluated props of one step, as JSON: beyond that, the
   * beginning of a value.
   */
  recordedPropsChars: 16 * 1024,
  /** One version of a workflow. */
  maxWorkflowSteps: 100,
  maxWorkflowTriggers: 50,
  /**
   * Its steps as JSON, each with the definitions of its component's props: defaults are stored with
   * each step, and definitions shown.
   */
  maxWorkflowVersionBytes: 8 * 1024 * 1024,
  /**
   * One `{{…}}`, and how deep it is nested; all those of one version of a workflow, which are
   * parsed when it is deployed.
   */
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
} as const;
