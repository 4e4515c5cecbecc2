/** Filters on events: how large one may be, and how much work they may make. */
export const FILTER_LIMITS = {
  /** A filter as JSON text, in UTF-8. */
  maxFilterBytes: 4_096,
  /** Objects and lists within each other. */
  maxFilterDepth: 8,
  /** Names and operators in one filter, and values in its lists. */
  maxFilterConditions: 100,
  /** An event with more data than this is not parsed for filters, and does not match. */
  maxFilteredEventChars: 1024 * 1024,
  /** Steps that one filter takes for one event. What needs more does not match. */
  maxFilterStepsPerEvent: 100_000,
  /**
   * Steps that the filters of one account take in one commit. A step is one look at one
   * value: 50 to 100 ns. An event that needs more does not match.
   */
  maxFilterSteps: 5_000_000,
  /** Event data that a trace reads to say what filters made of it, in all. */
  maxTraceFilteredBytes: 4 * 1024 * 1024,
} as const;
