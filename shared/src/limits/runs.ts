import { defineLimits } from './define-limits.ts';

/** Runs of sources and workflows: their start, memory of a node, and commits of their output. */
// biome-ignore format: one limit a line
export const RUN_LIMITS = defineLimits({
  maxCachedSourceBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'props and secrets of sources that are kept in memory, about' },
  partialCommitEmits: { default: 1_000, unit: 'count', scope: 'run', why: 'events after which it commits a part' },
  partialCommitBytes: { default: 2 * 1024 * 1024, unit: 'bytes', scope: 'run', why: 'events and values after which it commits a part' },
  partialCommitMs: { default: 5_000, unit: 'ms', scope: 'run', why: 'time after which it commits a part of what it emitted' },
  maxHeldInvocations: { default: 4_000, unit: 'count', scope: 'node', why: 'invocations in memory, half of them for one account; further ones wait in the database, and a request whose run is to answer gets 503' },
  maxHeldInvocationBytes: { default: 128 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'events of those invocations' },
  maxInvocationAttempts: { default: 3, unit: 'count', scope: 'run', why: 'times that its sandbox process may end while it is alone in it; then it is abandoned' },
  maxAbandonedRuns: { default: 10_000, unit: 'count', scope: 'account', why: 'abandoned runs that are kept, the newest' },
  maxAbandonedRunBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'events of those, unless a single one has more' },
  abandonedRunDays: { default: 90, unit: 'days', scope: 'account', why: 'how long abandoned runs are kept, whatever it keeps of its history' },
  maxRetriedExecutions: { default: 1_000, unit: 'count', scope: 'request', why: 'failed executions that are replayed' },
  minTimerIntervalSeconds: { default: 1, unit: 'seconds', scope: 'timer', why: 'the shortest interval' },
  maxTimerIntervalSeconds: { default: 366 * 24 * 3600, unit: 'seconds', scope: 'timer', why: 'the longest interval' },
  maxCronChars: { default: 512, unit: 'characters', scope: 'timer', why: 'a cron expression' },
  maxNearestWeekdays: { default: 5, unit: 'count', scope: 'timer', why: 'days in it that are to be the nearest weekday, such as `15W`; each is looked for on its own' },
  maxTimerCrons: { default: 50, unit: 'count', scope: 'request', why: 'timers with a cron expression that are given to a source or workflow; a rare match takes 0.5 ms to find' },
});
