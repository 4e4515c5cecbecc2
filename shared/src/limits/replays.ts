import { defineLimits } from './define-limits.ts';

/** Replays of past events to a listener. */
// biome-ignore format: one limit a line
export const REPLAY_LIMITS = defineLimits({
  maxRunningReplays: { default: 10, unit: 'count', scope: 'account', why: 'replays that have not ended' },
  maxKeptReplays: { default: 100, unit: 'count', scope: 'account', why: 'ended replays that are kept, the newest' },
  maxReplayIds: { default: 1_000, unit: 'count', scope: 'replay', why: 'events that it names by their ids' },
  maxCountedReplayEvents: { default: 100_000, unit: 'count', scope: 'replay', why: 'events that are looked through for its count; beyond it the count is not complete' },
  maxCountedReplayBytes: { default: 32 * 1024 * 1024, unit: 'bytes', scope: 'replay', why: 'data of those events, where the replay has a filter' },
  maxReplayLookups: { default: 20_000, unit: 'count', scope: 'replay', why: 'events of the count that are looked up among what the listener got before' },
  maxReplayRatePerSecond: { default: 1_000, unit: 'per second', scope: 'replay', why: 'the highest rate that it can be given' },
  replayBatch: { default: 500, unit: 'count', scope: 'replay', why: 'events that one turn goes through' },
  maxReplayBatchBytes: { default: 4 * 1024 * 1024, unit: 'bytes', scope: 'replay', why: 'data of those events, as far as it is read' },
  maxReplayAheadDeliveries: { default: 1_000, unit: 'count', scope: 'replay', why: 'it waits while so many deliveries of its webhook wait' },
  maxReplayAheadInvocations: { default: 100, unit: 'count', scope: 'replay', why: 'it waits while so many events wait for its source or workflow' },
});
