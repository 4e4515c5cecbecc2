/** Props of components: their values, choices and forms, and the runs that answer those. */
export const PROP_LIMITS = {
  /** Props of one component; those that `additionalProps` answers are counted apart. */
  maxProps: 500,
  /** Of definitions of props: how deep one is nested, and the values of all together. */
  maxPropDepth: 24,
  maxPropDefinitionValues: 50_000,
  /** How deep the options of a prop, or their context, are nested. */
  maxPropOptionsDepth: 32,
  /** One configured prop, as JSON. */
  maxPropValueBytes: 64 * 1024,
  /** What `additionalProps` answers, as JSON, and how long it can be deployed with. */
  maxDynamicPropsBytes: 256 * 1024,
  dynamicPropsMs: 24 * 3600 * 1000,
  /** Answers of `additionalProps` that are kept of one account; the oldest go first. */
  maxDynamicPropsPerAccount: 200,
  /** What the `options` of a prop answer, as JSON. */
  maxPropOptionsBytes: 1024 * 1024,
  /** Runs of `options` and `additionalProps` of one account at the same time on one node. */
  maxPropRunsPerTenant: 4,
  /**
   * A larger answer keeps its turn for as long as the rest of it takes at this pace, so the next of
   * those runs begins later.
   */
  smallPropAnswerChars: 16 * 1024,
  propAnswerCharsPerSecond: 1024 * 1024,
} as const;
