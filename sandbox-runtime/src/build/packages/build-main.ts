import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FieldError } from '@headwater/shared';
import { filterSourceMap } from '../filter-source-map.ts';
import { toFieldError } from '../field-errors.ts';
import { isForeign } from '../resolve-builtins.ts';
import { parseSpecifier, type PackageSpecifier } from '../specifier.ts';
import { BUILD_FILES, type BuildOrder, type BuildResult, PackageError } from './build-order.ts';
import { bundleTree } from './bundle-tree.ts';
import { openPackageCache, type PackageCache } from './package-cache.ts';
import { createLimiter, createRegistry, type Registry } from './registry.ts';
import { type PackageTree, type PlacedPackage, resolveTree } from './resolve-tree.ts';
import { unpack, type UnpackBudget } from './unpack.ts';
import { UnpackedPackages } from './unpacked-packages.ts';

/**
 * The main file of a build process. It is started in the build's folder, reads what to do there, and leaves the result there;
 * it runs nothing of what it fetches.
 */
const UNPACKED_AT_ONCE = 4;

async function main(dir: string): Promise<void> {
  const order = JSON.parse(readFileSync(join(dir, BUILD_FILES.order), 'utf8')) as BuildOrder;
  const result = await runBuild(order, dir).catch((error: unknown): BuildResult => {
    if (!(error instanceof PackageError)) throw error;
    return failed([{ path: 'component_code', message: `The packages cannot be used: ${error.message}` }]);
  });
  writeFileSync(join(dir, BUILD_FILES.result), JSON.stringify(result));
}

async function runBuild(order: BuildOrder, dir: string): Promise<BuildResult> {
  const { limits, component, entryLoader } = order;
  const cache = openPackageCache(order.cacheDir, limits.trustMs);
  const registry = createRegistry({
    url: order.registry,
    cache,
    maxPackumentBytes: limits.maxPackumentBytes,
    maxTarballBytes: limits.maxTarballBytes,
    signal: AbortSignal.timeout(limits.buildMs),
  });
  const tree = await findTree(order, registry, cache);
  const packages = new UnpackedPackages();
  if (Object.values(tree.roots).every((root) => root.ok)) await unpackAll(tree, registry, packages, limits);
  const bundle = await bundleTree(component, entryLoader, tree, packages);
  if (!bundle.ok) return failed(bundle.messages.map((message) => toFieldError(message)));
  const bytes = Buffer.byteLength(bundle.code);
  if (bytes > limits.maxBundleBytes) {
    const message = `The component with its packages is ${bytes} bytes; the limit is ${limits.maxBundleBytes}`;
    return failed([{ path: 'component_code', message }]);
  }
  writeFileSync(join(dir, BUILD_FILES.bundle), bundle.code);
  writeFileSync(join(dir, BUILD_FILES.sourceMap), filterSourceMap(bundle.sourceMap, isForeign));
  return { ok: true, dependencies: dependenciesOf(tree) };
}

/** The tree that the same imports had a moment ago, or a new one. */
async function findTree({ packages, registry: url, limits }: BuildOrder, registry: Registry, cache: PackageCache) {
  const specifiers = packages.map(parse);
  const key = JSON.stringify([url, specifiers.map(({ text }) => text).toSorted()]);
  const known = await cache.readJson('trees', key);
  if (known !== undefined) return known as PackageTree;
  const tree = await resolveTree(specifiers, registry, limits.maxPackages);
  if (Object.values(tree.roots).every((root) => root.ok)) await cache.writeJson('trees', key, tree);
  return tree;
}

function parse(text: string): PackageSpecifier {
  const parsed = parseSpecifier(text);
  if (!parsed.ok) throw new PackageError(parsed.reason);
  return parsed.specifier;
}

async function unpackAll(
  tree: PackageTree,
  registry: Registry,
  packages: UnpackedPackages,
  limits: BuildOrder['limits'],
): Promise<void> {
  const budget: UnpackBudget = { bytesLeft: limits.maxUnpackedBytes, filesLeft: limits.maxFiles };
  const limited = createLimiter(UNPACKED_AT_ONCE);
  await Promise.all(tree.packages.map((placed) => limited(() => unpackOne(placed, tree, registry, packages, budget))));
}

/** A package that cannot be had makes the import wrong that led to it. */
async function unpackOne(
  { name, version, tarball, integrity, dir, root }: PlacedPackage,
  tree: PackageTree,
  registry: Registry,
  packages: UnpackedPackages,
  budget: UnpackBudget,
): Promise<void> {
  try {
    packages.add(dir, await unpack(await registry.tarball(name, tarball, integrity), budget));
  } catch (cause) {
    if (!(cause instanceof PackageError)) throw cause;
    tree.roots[root] = { ok: false, reason: `${name}@${version}: ${cause.message}` };
  }
}

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

function failed(errors: FieldError[]): BuildResult {
  return { ok: false, errors };
}

await main(process.argv[2] ?? '.');
