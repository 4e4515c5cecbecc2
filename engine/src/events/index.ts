export { causeOf, type EventCause } from './cause.ts';
export {
  BUILT_IN_CHANNELS,
  isOfRuns,
  DEFAULT_CHANNEL,
  ERRORS_CHANNEL,
  LOGS_CHANNEL,
  SSE_CHANNEL,
  WEBHOOKS_CHANNEL,
} from './channels.ts';
export { emitterExists } from './emitter-exists.sql.ts';
export {
  comparePositions,
  emitIdOf,
  type EventPosition,
  formatEventId,
  nextPosition,
  parseEventId,
} from './event-id.ts';
export {
  type HeldInvocation,
  type InvocationKind,
  isWorkflow,
  leaseOf,
  newInvocationId,
  originOf,
} from './invocation.ts';
export { createFilterJudges, type EventJudge, parseEvent, readFilter } from './judge-filters.ts';
export { createOpenStreams, nodeStops } from './open-streams.ts';
export { orderKeyOf } from './order-key.ts';
export {
  countEvents,
  eventColumns,
  type EventRange,
  eventRecord,
  type EventRow,
  findNthEvent,
  inIndexOrder,
  inOneSnapshot,
  lookInIndexOrder,
  readEvents,
  readInIndexOrder,
} from './read-events.sql.ts';
export { runEventText } from './run-event-text.ts';
export { type RunTimes, timesOfRun } from './run-times.ts';
export {
  createStatMeter,
  noStats,
  nothingUsed,
  type StatCount,
  type StatMeter,
  type StatPart,
  type UseCount,
} from './stat-meter.ts';
export { storableText } from './storable-text.ts';
export { NO_LINES, readStoredLines, storeLines } from './stored-lines.ts';
export { createWatches, type Watch, type Watches } from './watches.ts';
