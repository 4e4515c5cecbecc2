/** Builds: the packages of components, the registry that they come from, and bundling. */
export const BUILD_LIMITS = {
  /** Fetching the packages of a component, and bundling it with them, each. */
  buildMs: 60_000,
  /** Bundling a component without packages. */
  bundleMs: 10_000,
  /**
   * Private memory of each process of a build: of those that fetch packages or bundle them, and of
   * those that bundle without.
   */
  maxBuildMemoryMb: 1_536,
  maxBundleMemoryMb: 1_024,
  /**
   * Builds with packages at the same time on one node, and as many without; those with packages of
   * one tenant that wait.
   */
  maxConcurrentBuilds: 2,
  maxQueuedBuildsPerTenant: 32,
  /** As above, for components without packages. */
  maxQueuedBundlesPerTenant: 256,
  /**
   * Bundles with source maps that were built or found for components of one tenant and are being
   * loaded or stored, on one node: while they have so many characters, no other build of the tenant
   * begins.
   */
  maxHeldBuildChars: 32 * 1024 * 1024,
  /**
   * Of one build: packages, their files and bytes unpacked; one tarball; the registry's list of one
   * package's versions.
   */
  maxPackagesPerBuild: 1_000,
  maxUnpackedFiles: 50_000,
  /** Names of files of its package that one import by a pattern in it may mean. */
  maxPatternFiles: 2_000,
  maxUnpackedBytes: 384 * 1024 * 1024,
  maxTarballBytes: 64 * 1024 * 1024,
  maxPackumentBytes: 64 * 1024 * 1024,
  /**
   * What one build downloads from the registry, lists and tarballs together; at least what was
   * announced of each.
   */
  maxPackageDownloadBytes: 384 * 1024 * 1024,
  /** What one node keeps of the registry on disk. */
  maxPackageCacheBytes: 2 * 1024 * 1024 * 1024,
  /** Files of it; each counts for those bytes as what it takes of the disk. */
  maxPackageCacheFiles: 20_000,
  /** How long the registry's word on which versions there are is believed. */
  packageTrustMs: 600_000,
  /**
   * How long the bundle of the same code is used again where an import does not name an exact
   * version.
   */
  bundleReuseMs: 3_600_000,
} as const;
