import type { FieldError } from '@headwater/shared';
import type { ComponentFiles } from '../component-files.ts';

/** Bounds of one build, all of them checked in the process that does it. */
export interface BuildLimits {
  /** From the start of the process; what is still under way then is given up. */
  buildMs: number;
  maxPackages: number;
  maxPackumentBytes: number;
  maxTarballBytes: number;
  maxUnpackedBytes: number;
  maxFiles: number;
  maxBundleBytes: number;
  /** How long the registry's word on versions is believed without asking again. */
  trustMs: number;
}

/** What a build process is told: order.json in its folder. */
export interface BuildOrder {
  component: ComponentFiles;
  entryLoader: 'js' | 'ts';
  /** Import strings that name packages, as the author wrote them. */
  packages: string[];
  /** Ends with a slash. */
  registry: string;
  cacheDir: string;
  limits: BuildLimits;
}

/** What it answers: result.json, beside bundle.js and bundle.js.map where it went well. */
export type BuildResult = { ok: true; dependencies: Record<string, string> } | { ok: false; errors: FieldError[] };

/** Names of the files in a build's folder. */
export const BUILD_FILES = {
  order: 'order.json',
  result: 'result.json',
  bundle: 'bundle.js',
  sourceMap: 'bundle.js.map',
} as const;

/** Thrown for what is wrong with a package, in words that follow `Cannot resolve "name": `. */
export class PackageError extends Error {
  override readonly name: string = 'PackageError';
}
