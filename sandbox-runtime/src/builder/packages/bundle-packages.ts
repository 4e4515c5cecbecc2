import type { FieldError } from '@headwater/shared';
import { bundleOverLimit } from '../bundle-over-limit.ts';
import type { BundleTask, TreeOutcome } from '../bundle-task.ts';
import { filterSourceMap } from '../filter-source-map.ts';
import { toFieldError } from '../field-errors.ts';
import { isForeign } from '../resolve-builtins.ts';
import { PackageError } from './package-error.ts';
import { bundleTree } from './bundle-tree.ts';
import { isIntact, openPackageCache } from './package-cache.ts';
import { createWorkLimiter } from './limiter.ts';
import type { PackageTree, PlacedPackage } from './resolve-tree.ts';
import { unpack, type UnpackBudget } from './unpack.ts';
import { UnpackedPackages } from './unpacked-packages.ts';

const UNPACKED_AT_ONCE = 4;
/** Lost packages that an error names. */
const MAX_NAMED = 10;

/** Bundles a component with packages that are in the cache. */
export async function bundlePackages(
  { component, entryLoader, limits, cacheDir }: Extract<BundleTask, { kind: 'tree' }>,
  tree: PackageTree,
): Promise<TreeOutcome> {
  const packages = new UnpackedPackages();
  if (Object.values(tree.roots).every((root) => root.ok)) {
    const cache = openPackageCache(cacheDir, limits.trustMs);
    const budget: UnpackBudget = { bytesLeft: limits.maxUnpackedBytes, filesLeft: limits.maxFiles };
    const limited = createWorkLimiter(UNPACKED_AT_ONCE);
    const lost: PlacedPackage[] = [];
    const unpackOne = async (placed: PlacedPackage): Promise<void> => {
      const bytes = await cache.readTarball(placed.integrity);
      if (bytes === undefined || !isIntact(bytes, placed.integrity)) return void lost.push(placed);
      const reason = await unpackInto(packages, placed, bytes, budget);
      if (reason !== undefined) tree.roots[placed.root] = { ok: false, reason };
    };
    await Promise.all(tree.packages.map((placed) => limited(() => unpackOne(placed))));
    if (lost.length > 0) return { ok: false, errors: lost.slice(0, MAX_NAMED).map(lostError), isLost: true };
  }
  const bundle = await bundleTree(component, entryLoader, tree, packages);
  if (!bundle.ok) return { ok: false, errors: bundle.messages.map((message) => toFieldError(message, component)) };
  const tooLarge = bundleOverLimit(Buffer.byteLength(bundle.code), limits.maxBundleBytes);
  if (tooLarge !== undefined) return { ok: false, ...tooLarge };
  const sourceMap = filterSourceMap(bundle.sourceMap, isForeign);
  return { ok: true, code: bundle.code, sourceMap, dependencies: dependenciesOf(tree) };
}

/** Returns the package's error, which becomes the error of the import that led to it. */
async function unpackInto(
  packages: UnpackedPackages,
  { name, version, dir }: PlacedPackage,
  bytes: Buffer,
  budget: UnpackBudget,
): Promise<string | undefined> {
  try {
    packages.add(dir, await unpack(bytes, budget));
    return undefined;
  } catch (cause) {
    if (!(cause instanceof PackageError)) throw cause;
    return `${name}@${version}: ${cause.message}`;
  }
}

/** The cache was cut down for another build since it was fetched. */
function lostError({ root, name, version }: PlacedPackage): FieldError {
  const message = `Cannot resolve ${JSON.stringify(root)}: ${name}@${version}: it was lost`;
  return { path: 'component_code', message };
}

/** The packages that the component itself imports. */
function dependenciesOf(tree: PackageTree): Record<string, string> {
  const entries: [string, string][] = [];
  const seen = new Map<string, string>();
  for (const [, root] of Object.entries(tree.roots).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!root.ok || seen.get(root.name) === root.version) continue;
    // A second version of a package is listed under its name with the version.
    const isSecond = seen.has(root.name);
    entries.push([isSecond ? `${root.name}@${root.version}` : root.name, root.version]);
    if (!isSecond) seen.set(root.name, root.version);
  }
  return Object.fromEntries(entries);
}
