import { defineLimits } from './define-limits.ts';

/** Builds: the packages of components, the registry that they come from, and bundling. */
// biome-ignore format: one limit a line
export const BUILD_LIMITS = defineLimits({
  buildMs: { default: 60_000, unit: 'ms', scope: 'build', why: 'fetching the packages of a component, and bundling it with them, each' },
  bundleMs: { default: 10_000, unit: 'ms', scope: 'build', why: 'bundling a component without packages' },
  maxBuildMemoryMb: { default: 1_536, unit: 'MB', scope: 'build', why: 'private memory of a process that fetches or bundles packages' },
  maxBundleMemoryMb: { default: 1_024, unit: 'MB', scope: 'build', why: 'private memory of a process that bundles a component without packages' },
  maxConcurrentBuilds: { default: 2, unit: 'count', scope: 'node', why: 'builds with packages at once, and as many without; one account has all but one' },
  maxQueuedBuildsPerTenant: { default: 32, unit: 'count', scope: 'account', why: 'builds with packages that wait on one node' },
  maxQueuedBundlesPerTenant: { default: 256, unit: 'count', scope: 'account', why: 'builds without packages that wait on one node' },
  maxHeldBuildChars: { default: 32 * 1024 * 1024, unit: 'characters', scope: 'account', why: 'bundles and source maps that a node is loading or storing; no other build begins at this' },
  maxPackagesPerBuild: { default: 1_000, unit: 'count', scope: 'build', why: 'packages that a component needs, with those that its packages need' },
  maxUnpackedFiles: { default: 50_000, unit: 'count', scope: 'build', why: 'files in all packages of a component' },
  maxPatternFiles: { default: 2_000, unit: 'count', scope: 'build', why: 'file names that an import with a pattern in a package may mean; with more it finds none' },
  maxUnpackedBytes: { default: 384 * 1024 * 1024, unit: 'bytes', scope: 'build', why: 'all packages of a component, unpacked' },
  maxTarballBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'build', why: 'one package as it is fetched' },
  maxPackumentBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'build', why: "the registry's list of one package's versions" },
  maxPackageDownloadBytes: { default: 384 * 1024 * 1024, unit: 'bytes', scope: 'build', why: 'lists and packages that are downloaded, at least what was announced of each' },
  maxPackageCacheBytes: { default: 2 * 1024 * 1024 * 1024, unit: 'bytes', scope: 'node', why: "the registry's answers that are kept in the data folder" },
  maxPackageCacheFiles: { default: 20_000, unit: 'count', scope: 'node', why: 'files of those; each counts as the 4 KB blocks that it takes' },
  packageTrustMs: { default: 600_000, unit: 'ms', scope: 'node', why: "how long the registry's list of versions is believed" },
  bundleReuseMs: { default: 3_600_000, unit: 'ms', scope: 'account', why: 'how long the bundle of the same code is used again where an import names no exact version' },
});
