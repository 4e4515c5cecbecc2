import type { ExceededLimit } from '@headwater/shared';

/**
 * Bounds of one build, all of them checked in the processes that do it, and the times from outside
 * as well.
 */
export interface BuildLimits {
  /**
   * Time for fetching packages, and as much for bundling them. Unfinished work is then given up.
   */
  buildMs: number;
  /** For bundling a component without packages. */
  bundleMs: number;
  /** Private memory of each process of a build with packages. */
  maxMemoryMb: number;
  /** The same for a component without packages. */
  maxBundleMemoryMb: number;
  maxPackages: number;
  maxPackumentBytes: number;
  maxTarballBytes: number;
  maxDownloadBytes: number;
  maxUnpackedBytes: number;
  maxFiles: number;
  maxBundleBytes: number;
  /** How long the registry's word on versions is believed without asking again. */
  trustMs: number;
}

export interface FetchOrder {
  /** Import strings that name packages, as the author wrote them. */
  packages: string[];
  /** Ends with a slash. */
  registry: string;
  cacheDir: string;
  limits: BuildLimits;
}

/**
 * The answer to a fetch order. Its text is the package tree, which holds each package's errors at
 * the import that led to it. `bytes`: downloaded into the cache.
 */
export type FetchAnswer = { bytes: number } & ({ ok: true } | FetchFailure);

/** `mayPass`: the packages are not the reason, and the same order may succeed later. */
export interface FetchFailure {
  ok: false;
  reason: string;
  limit?: ExceededLimit;
  mayPass?: boolean;
}
