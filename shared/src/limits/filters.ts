import { defineLimits } from './define-limits.ts';

/** Filters on events: how large one may be, and how much work they may make. */
// biome-ignore format: one limit a line
export const FILTER_LIMITS = defineLimits({
  maxFilterBytes: { default: 4_096, unit: 'bytes', scope: 'filter', why: 'a filter as JSON text' },
  maxFilterDepth: { default: 8, unit: 'count', scope: 'filter', why: 'objects and lists within each other' },
  maxFilterConditions: { default: 100, unit: 'count', scope: 'filter', why: 'names, operators and values in lists, together' },
  maxFilteredEventChars: { default: 1024 * 1024, unit: 'characters', scope: 'event', why: 'event data that filters look at; a larger event does not match' },
  maxFilterStepsPerEvent: { default: 100_000, unit: 'count', scope: 'filter', why: 'values that it looks at in one event; beyond it the event does not match' },
  maxFilterSteps: { default: 5_000_000, unit: 'count', scope: 'account', why: 'values that all filters look at in one commit (50 to 100 ns each); beyond it an event does not match' },
  maxTraceFilteredBytes: { default: 4 * 1024 * 1024, unit: 'bytes', scope: 'request', why: 'event data that a trace reads to say which clause of a filter did not match' },
});
