/** What runs keep: `$.service.db` and data stores. */
export const STORE_LIMITS = {
  /**
   * What a value of `$.service.db` counts for maxDbBytes and maxRunOutputBytes beside its bytes and
   * those of its key.
   */
  dbEntryOverheadBytes: 64,
  /** A key of `$.service.db`. */
  maxDbKeyBytes: 1024,
  /**
   * Reads of `$.service.db` that runs of one account have under way on one node, and those of all
   * accounts; more of them wait.
   */
  maxDbReadsPerTenant: 4,
  maxDbReads: 6,
  /**
   * While others are here one of a larger value keeps its turn for as long as the rest of it takes
   * at this pace.
   */
  smallDbValueChars: 16 * 1024,
  dbReadCharsPerSecond: 2 * 1024 * 1024,
  /** A key of a data store. */
  maxDataStoreKeyBytes: 1024,
  /**
   * What a component is given at once of a list of keys or entries: so many records, and so many
   * bytes unless one has more.
   */
  dataStorePageRecords: 1_000,
  dataStorePageBytes: 1024 * 1024,
  /** The longest life that a record of a data store can be given. */
  maxDataStoreTtlSeconds: 10 * 366 * 24 * 3600,
  /**
   * Operations on data stores that runs of one account have under way on one node; more of them
   * wait.
   */
  maxDataStoreCallsPerTenant: 2,
  /**
   * With a larger value one keeps its turn for as long as the rest of it takes at this pace; with a
   * larger answer while others are here.
   */
  smallDataStoreValueChars: 16 * 1024,
  dataStoreCharsPerSecond: 4 * 1024 * 1024,
  /** Values that wait with them. */
  maxDataStoreBytesPerTenant: 96 * 1024 * 1024,
} as const;
