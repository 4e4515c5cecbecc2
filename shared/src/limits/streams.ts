import { defineLimits } from './define-limits.ts';

/** Streams of events and logs to clients. */
// biome-ignore format: one limit a line
export const STREAM_LIMITS = defineLimits({
  maxStreams: { default: 2_000, unit: 'count', scope: 'node', why: 'streams that are open, of all accounts' },
  defaultStreamTokenMinutes: { default: 5, unit: 'minutes', scope: 'stream token', why: 'how long it opens streams' },
  maxStreamTokenMinutes: { default: 60, unit: 'minutes', scope: 'stream token', why: 'the longest time that can be set' },
  maxStreamTokenChars: { default: 2_048, unit: 'characters', scope: 'stream token', why: 'more than any has; a longer one is not looked at' },
  streamHeartbeatMs: { default: 15_000, unit: 'ms', scope: 'stream', why: 'how often it sends a sign of life' },
  streamKeyCheckMs: { default: 15_000, unit: 'ms', scope: 'stream', why: 'how often its key is looked at again' },
  streamRetryMs: { default: 1_000, unit: 'ms', scope: 'stream', why: 'how long clients are told to wait before they connect again' },
  streamPollMs: { default: 250, unit: 'ms', scope: 'node', why: 'how often a node looks for what other nodes have committed, while it has streams' },
  streamLogPollMs: { default: 500, unit: 'ms', scope: 'node', why: 'how often a node looks for what executions have logged, while it has streams' },
  streamPauseMs: { default: 50, unit: 'ms', scope: 'stream', why: 'pause between two reads' },
  liveLinesTurnMs: { default: 250, unit: 'ms', scope: 'node', why: 'how often a node stores lines of runs that go on, for streams' },
  liveLinesPauseMs: { default: 1_000, unit: 'ms', scope: 'run', why: 'the longest time between two parts of its lines' },
  liveLinesPartChars: { default: 64 * 1024, unit: 'characters', scope: 'run', why: 'characters of lines that are shown at once while it goes on' },
  liveLinesTurnChars: { default: 1024 * 1024, unit: 'characters', scope: 'node', why: 'characters of lines that all runs show in one turn' },
  streamBatchEvents: { default: 100, unit: 'count', scope: 'stream', why: 'events that are read at once' },
  streamBatchBytes: { default: 256 * 1024, unit: 'bytes', scope: 'stream', why: 'bytes that are read at once, but one event or the lines of one run at least' },
  maxStreamScanEvents: { default: 10_000, unit: 'count', scope: 'stream', why: 'events of an emitter, of whatever channel, that a read looks through; a replay begins with the newest of them' },
  maxStreamReadsPerTenant: { default: 2, unit: 'count', scope: 'account', why: 'reads for streams at once on one node' },
  streamReadBytesPerSecond: { default: 1024 * 1024, unit: 'bytes per second', scope: 'account', why: 'pace of each of those reads; the next begins when the bytes of the one before would have been read' },
  maxStreamBytesPerTenant: { default: 16 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'what streams have read on one node and their clients have not taken; beyond it they do not read on' },
});
