/** The REST API: what it takes, how much one answer has, and what it asks of the database. */
export const API_LIMITS = {
  minApiKeyChars: 20,
  maxNameChars: 256,
  /**
   * Requests to the REST API that one node asks its database for at a time, of one account and of
   * all; more of them wait, as long. It has ten connections.
   */
  maxQueriesPerTenant: 2,
  maxQueries: 5,
  /**
   * An answer for which more is read, shown or not, keeps its turn for as long as the rest of that
   * takes at this pace, where others are here (othersPresentMs).
   */
  smallAnswerChars: 256 * 1024,
  answerCharsPerSecond: 8 * 1024 * 1024,
  /** Body of a request to the REST API. */
  maxApiBodyBytes: 6 * 1024 * 1024,
  /** The longest address that mail can be sent to (RFC 5321), with room to spare. */
  maxEmailChars: 320,
  maxDescriptionChars: 4_096,
  /** Stacks of an account: what `hw apply` has made from folders, and for how long one is held. */
  maxStacks: 100,
  maxStackNameChars: 128,
  maxStackResources: 1_000,
  maxStackHoldSeconds: 600,
  maxUrlChars: 2_048,
  /** Lists. */
  defaultPageSize: 10,
  maxPageSize: 100,
  /**
   * Props of the sources that one page shows, configured ones and definitions, and values of the
   * records of a data store; a page with more of them has fewer entries, one at least.
   */
  maxPageBytes: 2 * 1024 * 1024,
  /**
   * Nesting of JSON that the REST API takes: deeper values overflow the stack of whoever serialises
   * them.
   */
  maxJsonDepth: 128,
  /**
   * Values in the JSON of one request to the REST API, lists and objects among them, and names of
   * members that differ: they take time, whatever their bytes.
   */
  maxApiJsonValues: 500_000,
  maxApiJsonLists: 100_000,
  maxApiJsonNames: 25_000,
  maxIdChars: 256,
  maxCursorChars: 512,
  /** `include` and `exclude`: the fields that an answer is to have. */
  maxFieldsChars: 2_048,
  /** What an answer tells of errors: this many of them, each text cut after so many characters. */
  maxProblemErrors: 100,
  maxProblemTextChars: 4_000,
} as const;
