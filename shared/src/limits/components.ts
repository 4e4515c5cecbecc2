/**
 * Code of components: saving it, loading it to see what it exports, fetching it from a URL, and
 * importing folders of it.
 */
export const COMPONENT_LIMITS = {
  /** Source text of one component. */
  maxComponentCodeBytes: 1024 * 1024,
  /**
   * Files of one component that is fetched from a URL; together they have at most
   * maxComponentCodeBytes.
   */
  maxComponentFiles: 100,
  /**
   * What a component says of itself (its name, its props and the rest of its export), as JSON.
   * Longer texts than the code can be have been made while it was loaded, and the node has to parse
   * them.
   */
  maxOutlineChars: 1024 * 1024,
  /**
   * Of that JSON, and of what `options` and `additionalProps` answer: its values, the lists and
   * objects among them, and names of members that differ. A megabyte of different names takes the
   * node's thread more than a tenth of a second, one of `[],` a quarter.
   */
  maxOutlineValues: 150_000,
  maxOutlineLists: 40_000,
  maxOutlineNames: 5_000,
  /**
   * One import of a folder of components: its files of code, their bytes, and the components among
   * them.
   */
  maxImportFiles: 5_000,
  maxImportBytes: 24 * 1024 * 1024,
  maxImportComponents: 1_000,
  /** Imports of one account that are under way, and that are kept when they have ended. */
  maxWaitingImports: 4,
  maxKeptImports: 20,
  /**
   * Components of one tenant whose files a node fetches from their URLs at the same time, and with
   * those that wait for that.
   */
  componentFetchesAtOnce: 2,
  maxComponentFetchesPerTenant: 256,
  /** Imports that a node works on at the same time, one of each account. */
  importsAtOnce: 32,
  /** How long a node works on one import before it turns to the next. */
  importTurnMs: 5_000,
  /** How long an account's imports rest where its builds find no room. */
  importRestMs: 10_000,
  /**
   * How long a component of an import waits for packages that cannot be had; afterwards that is
   * what became of it.
   */
  importPatienceMs: 600_000,
  /** How often one component of an import is begun, where its node ends each time. */
  maxImportAttempts: 3,
  /**
   * Changes of sources of one account on one node, deployments and deletions among them: so many go
   * on at once, the others wait, and more than maxSourceChangesPerTenant are refused. Each that
   * goes on has a lease of its source, extended until it ends.
   */
  sourceChangesAtOnce: 16,
  maxSourceChangesPerTenant: 500,
  /**
   * A lease of a source that its node has not extended for so long is taken over, and the change
   * recovered.
   */
  changeLeaseSeconds: 60,
  /** A larger package.json of an import is passed over. */
  maxManifestBytes: 64 * 1024,
  /** Fetching a component from its URL, with the files that it imports. */
  fetchComponentMs: 30_000,
  /**
   * Loading a component to see what it exports, when it is saved. An account whose memoryMb is more
   * than describeMemoryMb has that much.
   */
  describeCpuMs: 4_000,
  describeWallMs: 10_000,
  describeMemoryMb: 128,
} as const;
