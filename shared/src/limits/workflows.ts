import { defineLimits } from './define-limits.ts';

/** Workflows: their versions and settings, their steps, tests of them, and executions that wait. */
// biome-ignore format: one limit a line
export const WORKFLOW_LIMITS = defineLimits({
  waitingOverheadBytes: { default: 1024, unit: 'bytes', scope: 'execution', why: 'what an execution that waits counts for `maxWaitingBytes` beside its texts' },
  maxTurnWaitMs: { default: 60_000, unit: 'ms', scope: 'request', why: "a client's wait for the answer of a workflow that runs its executions in turn, until it is this one's turn" },
  maxWorkflowTestsPerTenant: { default: 4, unit: 'count', scope: 'account', why: 'tests of workflows, or of steps, at once on one node' },
  maxUnsavedBundleBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'request', why: 'code in a test of a workflow that is not saved, with its packages and source maps' },
  shownStepBytes: { default: 64 * 1024, unit: 'bytes', scope: 'execution', why: 'an event, export or return value that is shown whole without `expand`; a response shown by a test' },
  recordedPropsChars: { default: 16 * 1024, unit: 'characters', scope: 'execution', why: 'evaluated props of one step that are recorded, as JSON; a longer value is cut' },
  maxWorkflowSteps: { default: 100, unit: 'count', scope: 'workflow', why: 'steps of one version' },
  maxWorkflowTriggers: { default: 50, unit: 'count', scope: 'workflow', why: 'triggers of one version' },
  maxWorkflowVersionBytes: { default: 8 * 1024 * 1024, unit: 'bytes', scope: 'workflow', why: "steps of one version as JSON, defaults included, each with the definitions of its component's props" },
  maxExpressionChars: { default: 10_000, unit: 'characters', scope: 'workflow', why: 'one `{{…}}` in the props of a step' },
  maxExpressionDepth: { default: 200, unit: 'count', scope: 'workflow', why: 'how deep an expression is nested' },
  maxWorkflowExpressions: { default: 5_000, unit: 'count', scope: 'workflow', why: 'expressions in the steps that one request gives it; they are parsed when it is deployed' },
  maxWorkflowExpressionChars: { default: 512 * 1024, unit: 'characters', scope: 'workflow', why: 'those expressions together' },
  maxWorkflowTimeoutSeconds: { default: 750, unit: 'seconds', scope: 'workflow', why: 'its `timeout_seconds`' },
  maxWorkflowConcurrency: { default: 10_000, unit: 'count', scope: 'workflow', why: 'its `concurrency`' },
  maxThrottleLimit: { default: 1_000_000, unit: 'count', scope: 'workflow', why: 'its `throttle.limit`' },
  maxThrottleIntervalSeconds: { default: 24 * 3600, unit: 'seconds', scope: 'workflow', why: 'its `throttle.interval_seconds`' },
  maxWorkflowQueueLimit: { default: 1_000_000, unit: 'count', scope: 'workflow', why: 'its `queue_limit`' },
  maxStepRetries: { default: 10, unit: 'count', scope: 'workflow', why: 'its `retries`' },
  maxNamespaceChars: { default: 64, unit: 'characters', scope: 'step', why: 'its namespace, which is a name in expressions' },
  maxExportNameChars: { default: 128, unit: 'characters', scope: 'step', why: 'a name given to `$.export`' },
  maxStepWaitMs: { default: 365 * 24 * 3600 * 1000, unit: 'ms', scope: 'step', why: 'the longest wait that `$.flow` can be asked for' },
  maxStepReruns: { default: 1_000, unit: 'count', scope: 'step', why: 'how often `$.flow.rerun` can be told to run it again' },
});
