import { ACCOUNT_LIMITS, type ExceededLimit, type FieldError, LIMITS } from '@headwater/shared';
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import type { BundleOutcome, ComponentBundle } from '../sandbox-types.ts';
import { bundleOverLimit } from './bundle-over-limit.ts';
import { readFailures, requireNoPatterns } from './bundler-failures.ts';
import { COMMON_OPTIONS } from './common-options.ts';
import { type ComponentFiles, loadOwn } from './component-files.ts';
import { toFieldError } from './field-errors.ts';
import { filterSourceMap } from './filter-source-map.ts';
import { type FoundImports, isForeign, resolveWithoutPackages } from './resolve-builtins.ts';

const DEFAULT_FILE = 'component.js';

/** A component as far as it goes without its packages. */
export type PlainOutcome =
  | { kind: 'bundled'; bundle: ComponentBundle }
  | { kind: 'needs-packages'; packages: string[]; entryLoader: 'js' | 'ts' }
  | { kind: 'failed'; errors: FieldError[]; limit?: ExceededLimit };

/**
 * Bundles component code without packages into one self-contained ES module, with a source map to
 * `fileName` (default `component.js`). It tries JavaScript, then TypeScript. If both fail, it
 * reports the errors of the likelier language, each with file, 1-based line and 0-based column.
 *
 * The bundler runs in this process, and hostile code can break it for good. So this is only for
 * trusted code, such as tests; other code goes to a `Builder`.
 *
 * Refuses code over LIMITS.maxComponentCodeBytes. Never reads from disk: every import ends in
 * `resolveWithoutPackages`, and no tsconfig is looked for.
 */
export async function bundleComponent(code: string, fileName: string = DEFAULT_FILE): Promise<BundleOutcome> {
  const outcome = await bundlePlain({ entry: fileName, files: { [fileName]: code } });
  switch (outcome.kind) {
    case 'bundled':
      return { ok: true, bundle: outcome.bundle };
    case 'failed':
      return { ok: false, errors: outcome.errors };
    case 'needs-packages': {
      const message = `Cannot resolve "${outcome.packages.join('", "')}": packages are imported with a builder`;
      return { ok: false, errors: [{ path: 'component_code', message, file: fileName }] };
    }
  }
}

/**
 * As `bundleComponent`, for a component of one or more files; says which packages are missing where
 * there are any. Rejects where the bundler broke down. `maxBundleBytes`: a kilobyte of code can
 * name a constant a thousand times, and the bundler writes it out each time.
 */
export async function bundlePlain(
  component: ComponentFiles,
  maxBundleBytes: number = ACCOUNT_LIMITS.maxBundleBytes.max,
): Promise<PlainOutcome> {
  const { entry, files } = component;
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > LIMITS.maxComponentCodeBytes) {
    const value = LIMITS.maxComponentCodeBytes;
    const message = `The code is ${bytes} bytes; the limit maxComponentCodeBytes is ${value} bytes`;
    const limit = { name: 'maxComponentCodeBytes', value, used: bytes } as const;
    return { kind: 'failed', errors: [{ path: 'component_code', message, file: entry }], limit };
  }
  const isTypeScript = /\.[cm]?ts$/.test(entry);
  const first = await tryBundle(component, isTypeScript ? 'ts' : 'js', maxBundleBytes);
  if (first.kind !== 'failed' || isTypeScript) return first;
  const second = await tryBundle(component, 'ts', maxBundleBytes);
  // TypeScript accepts all JavaScript. If only imports are wrong now, these errors are the better
  // message.
  return second.kind !== 'failed' || isOnlyImports(second.errors) ? second : first;
}

async function tryBundle(
  component: ComponentFiles,
  entryLoader: 'js' | 'ts',
  maxBundleBytes: number,
): Promise<PlainOutcome> {
  const found: FoundImports = { packages: new Set() };
  try {
    const result = await build({
      ...COMMON_OPTIONS,
      entryPoints: [component.entry],
      platform: 'neutral',
      treeShaking: false,
      absWorkingDir: '/',
      plugins: [resolveWithoutPackages(component, found), loadOwn(component, entryLoader)],
    });
    requireNoPatterns(result);
    if (found.packages.size > LIMITS.maxPackagesPerBuild) {
      const limit = {
        name: 'maxPackagesPerBuild',
        value: LIMITS.maxPackagesPerBuild,
        used: found.packages.size,
      } as const;
      const message = `The component imports ${limit.used} packages; at most ${limit.value} are allowed`;
      return { kind: 'failed', errors: [{ path: 'component_code', message, file: component.entry }], limit };
    }
    if (found.packages.size > 0) return { kind: 'needs-packages', packages: [...found.packages], entryLoader };
    const output = result.outputFiles.find((file) => file.path.endsWith('.js'));
    const map = result.outputFiles.find((file) => file.path.endsWith('.map'));
    if (output === undefined || map === undefined) throw new Error('The bundler made no output');
    const tooLarge = bundleOverLimit(output.contents.length, maxBundleBytes, component.entry);
    if (tooLarge !== undefined) return { kind: 'failed', ...tooLarge };
    return { kind: 'bundled', bundle: makeBundle(output.text, filterSourceMap(map.text, isForeign)) };
  } catch (error) {
    const { entry } = component;
    return { kind: 'failed', errors: readFailures(error).map((message) => toFieldError(message, component, entry)) };
  }
}

export function makeBundle(code: string, sourceMap: string): ComponentBundle {
  return { code, sourceMap, hash: createHash('sha256').update(code).digest('hex') };
}

function isOnlyImports(errors: readonly FieldError[]): boolean {
  return errors.every((error) => error.message.startsWith('Cannot resolve '));
}
