import { defineLimits } from './define-limits.ts';

/** The history of an account: how it is counted and cut, and deletions from it. */
// biome-ignore format: one limit a line
export const HISTORY_LIMITS = defineLimits({
  historyRowBytes: { default: 256, unit: 'bytes', scope: 'event', why: 'what an event, record, step, send, delivery or trace of a caller counts for `maxHistoryBytes` beside its texts' },
  historyPartMs: { default: 60_000, unit: 'ms', scope: 'account', why: 'history is counted, and cut, in parts of this length' },
  minuteStatsKeptMs: { default: 90_000_000, unit: 'ms', scope: 'account', why: 'how long counters by minute are kept; those by hour are kept as long as the history' },
  usageKeptDays: { default: 800, unit: 'days', scope: 'account', why: 'how long what an account used by day is kept' },
  maxUsageDays: { default: 400, unit: 'days', scope: 'answer', why: 'days of use' },
  storageLookMs: { default: 3_600_000, unit: 'ms', scope: 'account', why: 'how often is looked at what an account has stored, and how near its limits it is' },
  maxStatBuckets: { default: 1_500, unit: 'count', scope: 'answer', why: 'buckets of counters by time' },
  maxSampleRequests: { default: 100, unit: 'count', scope: 'account', why: 'the newest deliveries that its sample receiver keeps' },
  sampleRequestsKeptMs: { default: 86_400_000, unit: 'ms', scope: 'account', why: 'how long its sample receiver keeps them' },
  maxSampleBodyBytes: { default: 65_536, unit: 'bytes', scope: 'account', why: 'the beginning of each body that its sample receiver keeps' },
  maxDeletionsPerTenant: { default: 100, unit: 'count', scope: 'account', why: 'deletions of workflows, of events, of data stores or records, and ends of webhooks, each, on one node; over it 429' },
});
