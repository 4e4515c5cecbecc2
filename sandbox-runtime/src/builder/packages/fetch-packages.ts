import { parseSpecifier, type PackageSpecifier } from '../specifier.ts';
import type { FetchFailure, FetchOrder } from './build-order.ts';
import { createDownloadBudget } from './download-budget.ts';
import { BuildLimitError, PackageError, PackagesUnavailableError } from './package-error.ts';
import { openPackageCache, type PackageCache } from './package-cache.ts';
import { createPackageRegistry, type Registry } from './registry.ts';
import { type PackageTree, type PlacedPackage, resolveTree } from './resolve-tree.ts';
import { isStoredTree } from './stored-tree.ts';

/** `bytes`: that were downloaded into the cache. */
export type FetchResult = { bytes: number } & ({ ok: true; tree: PackageTree } | FetchFailure);

/**
 * Finds the packages that the imports need, and brings into the cache what of them is not there.
 */
export async function fetchPackages(order: FetchOrder): Promise<FetchResult> {
  const { limits } = order;
  const cache = openPackageCache(order.cacheDir, limits.trustMs);
  const budget = createDownloadBudget(limits.maxDownloadBytes);
  const registry = createPackageRegistry({
    url: order.registry,
    cache,
    maxPackumentBytes: limits.maxPackumentBytes,
    maxTarballBytes: limits.maxTarballBytes,
    budget,
    signal: AbortSignal.timeout(limits.buildMs),
  });
  try {
    const tree = await findTree(order, registry, cache);
    if (isSound(tree)) await allEnded(tree.packages.map((placed) => fetchOne(placed, tree, registry)));
    return { ok: true, tree, bytes: budget.used };
  } catch (error) {
    if (error instanceof BuildLimitError) {
      // Kept, it would push out of the cache what others use.
      await cache.discardWritten();
      return { ok: false, reason: error.message, limit: error.limit, bytes: 0 };
    }
    if (error instanceof PackagesUnavailableError)
      return { ok: false, reason: error.message, mayPass: true, bytes: budget.used };
    if (!(error instanceof PackageError)) throw error;
    return { ok: false, reason: error.message, bytes: budget.used };
  }
}

/** Waits for all tasks, even if one fails: when it ends, all their writes have ended. */
async function allEnded(tasks: Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(tasks)) if (end.status === 'rejected') throw end.reason;
}

/** The tree that the same imports had a moment ago, or a new one. */
async function findTree({ packages, registry: url, limits }: FetchOrder, registry: Registry, cache: PackageCache) {
  const specifiers = packages.map(parse);
  const key = JSON.stringify([url, specifiers.map(({ text }) => text).toSorted()]);
  const known = await cache.readJson('trees', key, isStoredTree);
  if (known !== undefined) return known;
  const tree = await resolveTree(specifiers, registry, limits.maxPackages);
  if (isSound(tree)) await cache.writeJson('trees', key, tree);
  return tree;
}

function isSound({ roots }: PackageTree): boolean {
  return Object.values(roots).every((root) => root.ok);
}

function parse(text: string): PackageSpecifier {
  const parsed = parseSpecifier(text);
  if (!parsed.ok) throw new PackageError(parsed.reason);
  return parsed.specifier;
}

/** A package that cannot be had makes the import wrong that led to it. */
async function fetchOne(placed: PlacedPackage, tree: PackageTree, registry: Registry): Promise<void> {
  const { name, version, tarball, integrity, root } = placed;
  try {
    await registry.fetchTarball(name, tarball, integrity);
  } catch (cause) {
    if (!(cause instanceof PackageError)) throw cause;
    tree.roots[root] = { ok: false, reason: `${name}@${version}: ${cause.message}` };
  }
}
