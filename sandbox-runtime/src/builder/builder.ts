import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ACCOUNT_LIMITS, HeadwaterError, LIMITS } from '@headwater/shared';
import { type BuildContext, bundleAlone, bundleWithPackages, findMissingFiles } from './build-component.ts';
import { createBuildProcesses } from './build-processes.ts';
import { createStarter, type ProcessStarter } from '../starter/starter.ts';
import { type BuildTurns, createBuildTurns } from './build-turns.ts';
import { type BuildOutcome, type Built, failedBuild } from './build-outcome.ts';
import type { ComponentFiles } from './component-files.ts';
import type { BuildLayer } from '../confinement/build-prefix.ts';
import { createTrims } from './trim-cache.ts';
import { findRegistry, type RegistrySettings } from './find-registry.ts';
import type { MissingFile } from './list-missing-files.ts';
import type { BuildLimits } from './packages/build-order.ts';
import { CACHE_FOLDERS } from './packages/package-cache.ts';
import { isExact, parseSpecifier } from './specifier.ts';

export interface BuilderOptions {
  /** Folder that builds share: tarballs and the registry's lists. Created if missing. */
  cacheDir: string;
  /** The npm registry to use. Default: the one that npm is set to use here. */
  registryUrl?: string;
  /**
   * How the network is reached, for proxies and own certificates: all of the environment that
   * builds get. Default: nothing but the authorities that npm trusts, where its registry is used.
   */
  environment?: Readonly<Record<string, string>>;
  /** Starts the builder's processes. Default: a starter of its own, which ends with it. */
  starter?: ProcessStarter;
  /** Bounds other than those of LIMITS, for tests. */
  limits?: Partial<BuildLimits>;
  log?: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

interface BuildRequest {
  /** Builds wait for each other; no tenant waits for all builds of another. */
  tenantId: string;
  component: ComponentFiles;
  /**
   * Asked for a bundle made earlier of the same code, before packages are fetched. `pinned`: every
   * import names an exact version, so that an old bundle is as good as a new one. It may be large,
   * so it is asked for in the tenant's turn to bundle.
   */
  findEarlier?: (pinned: boolean) => Promise<Built | undefined>;
}

/** Makes components ready to load. */
export interface Builder {
  /**
   * Does not reject for errors in the code, or for missing or broken packages: these are in the
   * outcome, with the author's file and line. Throws RATE_LIMITED if too many builds of the tenant
   * wait. Throws UNAVAILABLE if the node stops, no registry is known, or packages are temporarily
   * unavailable. Only the last of these says when to retry.
   */
  build(request: BuildRequest): Promise<BuildOutcome>;
  /**
   * As `build`, for a caller that uses the bundle: it counts as held by the tenant until `use`
   * ends. While a tenant holds LIMITS.maxHeldBuildChars or more, no other build of it begins.
   */
  buildFor<T>(request: BuildRequest, use: (outcome: BuildOutcome) => Promise<T>): Promise<T>;
  /**
   * The files that the given ones import by relative paths and that are not among them. Empty for
   * code that cannot be read. Throws RATE_LIMITED, and UNAVAILABLE when the node stops.
   */
  listMissingFiles(tenantId: string, component: ComponentFiles): Promise<MissingFile[]>;
  /**
   * Confinement of bundler processes by the operating system. Logs the missing layers, as the first
   * build would.
   */
  findLayers(): Promise<readonly BuildLayer[]>;
  /** Ends builds under way. Idempotent. */
  stop(): Promise<void>;
}

const BUILD_LIMITS: BuildLimits = {
  buildMs: LIMITS.buildMs,
  bundleMs: LIMITS.bundleMs,
  maxMemoryMb: LIMITS.maxBuildMemoryMb,
  maxBundleMemoryMb: LIMITS.maxBundleMemoryMb,
  maxPackages: LIMITS.maxPackagesPerBuild,
  maxPackumentBytes: LIMITS.maxPackumentBytes,
  maxTarballBytes: LIMITS.maxTarballBytes,
  maxDownloadBytes: LIMITS.maxPackageDownloadBytes,
  maxUnpackedBytes: LIMITS.maxUnpackedBytes,
  maxFiles: LIMITS.maxUnpackedFiles,
  maxBundleBytes: ACCOUNT_LIMITS.maxBundleBytes.max,
  trustMs: LIMITS.packageTrustMs,
};

/**
 * Nothing that a tenant wrote or chose is read by the bundler in this process: code of a few
 * hundred kilobytes can overflow its stack or take all memory, and it is a single program for
 * everyone.
 */
export function createBuilder(options: BuilderOptions): Builder {
  const limits = { ...BUILD_LIMITS, ...options.limits };
  const cacheDir = resolve(options.cacheDir);
  const log = options.log ?? (() => undefined);
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  let own: ProcessStarter | undefined;
  const turns = createBuildTurns(limits);
  const registry = keepFirst(() => prepareRegistry(options, cacheDir));
  const starter = keepFirst(async () => options.starter ?? (own = await createStarter()));
  const processes = createBuildProcesses({
    cacheDir,
    environment: async () => (await registry()).environment,
    limits,
    signal: stopping.signal,
    starter,
    log,
  });
  const context: BuildContext = { processes, limits, cacheDir, downloaded: (bytes) => trims.grew(bytes), log };
  const trims = createTrims(cacheDir, log, {
    maxBytes: LIMITS.maxPackageCacheBytes,
    maxFiles: LIMITS.maxPackageCacheFiles,
    trustMs: limits.trustMs,
    signal: stopping.signal,
  });

  const parts: BuildParts = { context, turns, registry, fetched: trims.start };

  async function track<T>(work: () => Promise<T>): Promise<T> {
    stopping.signal.throwIfAborted();
    const done = work();
    running.add(done);
    return done.finally(() => running.delete(done));
  }

  const buildFor: Builder['buildFor'] = (request, use) =>
    turns.holding(request.tenantId, async (hold) => use(await track(() => makeBundle(parts, request, hold))));

  return {
    build: (request) => buildFor(request, (outcome) => Promise.resolve(outcome)),
    buildFor,
    listMissingFiles: (tenantId, component) =>
      track(() => turns.plain.run(tenantId, () => findMissingFiles(context, tenantId, component))),
    findLayers: processes.findLayers,
    async stop() {
      stopping.abort(new HeadwaterError('UNAVAILABLE', 'This node stops'));
      turns.stop();
      await Promise.allSettled([...running, trims.ended()]);
      processes.stop();
      await own?.stop();
    },
  };
}

interface BuildParts {
  context: BuildContext;
  turns: BuildTurns;
  registry: () => Promise<Registry>;
  /** There may be more packages in the cache. */
  fetched: () => void;
}

async function makeBundle(
  { context, turns, registry, fetched }: BuildParts,
  { tenantId, component, findEarlier }: BuildRequest,
  hold: (bundle: Built['bundle']) => void,
): Promise<BuildOutcome> {
  const keep = (built: Built): BuildOutcome => {
    hold(built.bundle);
    return { ok: true, ...built };
  };
  const plain = await turns.plain.run(tenantId, async () => {
    const alone = await bundleAlone(context, tenantId, component);
    if (alone.kind === 'failed') return failedBuild(alone);
    if (alone.kind === 'bundled') return keep({ bundle: alone.bundle, dependencies: {} });
    const earlier = await findEarlier?.(alone.packages.every(isPinned));
    return earlier === undefined ? alone : keep(earlier);
  });
  if ('ok' in plain) return plain;
  const { packages, entryLoader } = plain;
  return turns.packages.run(tenantId, async () => {
    const { url } = await registry();
    const outcome = await bundleWithPackages(context, tenantId, { component, entryLoader, packages, registry: url });
    fetched();
    return outcome.ok ? keep(outcome) : outcome;
  });
}

function isPinned(text: string): boolean {
  const parsed = parseSpecifier(text);
  return parsed.ok && isExact(parsed.specifier);
}

interface Registry {
  /** Ends with a slash. */
  url: string;
  environment: Readonly<Record<string, string>>;
}

/** Nothing of this is done on a node where no component imports a package. */
async function prepareRegistry(options: BuilderOptions, cacheDir: string): Promise<Registry> {
  const [{ url, cafile }] = await Promise.all([
    registryOf(options),
    ...CACHE_FOLDERS.map((name) => mkdir(join(cacheDir, name), { recursive: true, mode: 0o700 })),
  ]);
  const trusted = cafile === undefined ? {} : { NODE_EXTRA_CA_CERTS: cafile };
  return { url: url.endsWith('/') ? url : `${url}/`, environment: { ...trusted, ...options.environment } };
}

async function registryOf({ registryUrl }: BuilderOptions): Promise<RegistrySettings> {
  return registryUrl === undefined ? findRegistry() : { url: registryUrl };
}

/** Keeps the first success; a failure is retried. */
function keepFirst<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
