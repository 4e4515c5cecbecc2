import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { runBuildProcess } from './build-process.ts';
import { type BuilderScript, bundleBuilder } from './bundle-builder.ts';
import { BuildSlots } from './build-slots.ts';
import { bundlePlain } from './bundle-component.ts';
import type { BuildOutcome, Built } from './build-outcome.ts';
import type { ComponentFiles } from './component-files.ts';
import { trimCache } from './trim-cache.ts';
import { findRegistry, type RegistrySettings } from './find-registry.ts';
import type { BuildLimits } from './packages/build-order.ts';
import { CACHE_FOLDERS } from './packages/package-cache.ts';
import { isExact, parseSpecifier } from './specifier.ts';

export interface BuilderOptions {
  /** Folder of what builds share: tarballs and the registry's lists. Made where it is missing. */
  cacheDir: string;
  /** The npm registry to use. Default: the one that npm is set to use here. */
  registryUrl?: string;
  /**
   * How the network is reached, for proxies and own certificates: all of the environment that builds get. Default: nothing
   * but the authorities that npm trusts, where its registry is used.
   */
  environment?: Readonly<Record<string, string>>;
  /** Bounds other than those of LIMITS, for tests. */
  limits?: Partial<BuildLimits>;
  log?: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

interface BuildRequest {
  /** Builds wait for each other; no tenant waits for all builds of another. */
  tenantId: string;
  component: ComponentFiles;
  /**
   * Asked for a bundle made earlier of the same code, before packages are fetched. `pinned`: every import names an exact
   * version, so that an old bundle is as good as a new one.
   */
  findEarlier?: (pinned: boolean) => Promise<Built | undefined>;
}

/** Makes components ready to load. */
export interface Builder {
  /**
   * Never rejects for what the code contains or for packages that are missing or broken: that is the outcome, with the
   * author's file and line. Throws RATE_LIMITED where too many builds of the tenant wait, UNAVAILABLE when the node stops or
   * no registry is known.
   */
  build(request: BuildRequest): Promise<BuildOutcome>;
  /** Ends builds under way. Idempotent. */
  stop(): Promise<void>;
}

const BUILD_LIMITS: BuildLimits = {
  buildMs: LIMITS.buildMs,
  maxPackages: LIMITS.maxPackagesPerBuild,
  maxPackumentBytes: LIMITS.maxPackumentBytes,
  maxTarballBytes: LIMITS.maxTarballBytes,
  maxUnpackedBytes: LIMITS.maxUnpackedBytes,
  maxFiles: LIMITS.maxUnpackedFiles,
  maxBundleBytes: LIMITS.maxBundleBytes,
  trustMs: LIMITS.packageTrustMs,
};

/** Looking through a full cache costs more than a small build. */
const TRIM_EVERY_MS = 60_000;

export function createBuilder(options: BuilderOptions): Builder {
  const slots = new BuildSlots(LIMITS.maxConcurrentBuilds, LIMITS.maxQueuedBuildsPerTenant);
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  const limits = { ...BUILD_LIMITS, ...options.limits };
  const log = options.log ?? (() => undefined);
  let trimmedAtMs = Number.NEGATIVE_INFINITY;
  let prepared: Promise<Prepared> | undefined;
  // Nothing of this is done on a node where no component imports a package.
  const prepare = (): Promise<Prepared> => {
    prepared ??= prepareBuilds(options).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };

  async function buildWithPackages(component: ComponentFiles, packages: string[], entryLoader: 'js' | 'ts') {
    const { script, registry, cacheDir, environment } = await prepare();
    const order = { component, entryLoader, packages, registry, cacheDir, limits };
    const outcome = await runBuildProcess({ script, order, environment, signal: stopping.signal, log });
    if (performance.now() - trimmedAtMs > TRIM_EVERY_MS) {
      trimmedAtMs = performance.now();
      await trimCache(cacheDir, LIMITS.maxPackageCacheBytes);
    }
    return outcome;
  }

  return {
    async build({ tenantId, component, findEarlier }) {
      const plain = await bundlePlain(component);
      if (plain.kind === 'failed') return { ok: false, errors: plain.errors };
      if (plain.kind === 'bundled') return { ok: true, bundle: plain.bundle, dependencies: {} };
      const { packages, entryLoader } = plain;
      const earlier = await findEarlier?.(packages.every(isPinned));
      if (earlier !== undefined) return { ok: true, ...earlier };
      stopping.signal.throwIfAborted();
      const work = slots.run(tenantId, () => buildWithPackages(component, packages, entryLoader));
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async stop() {
      stopping.abort(new HeadwaterError('UNAVAILABLE', 'This node stops'));
      await Promise.allSettled(running);
    },
  };
}

function isPinned(text: string): boolean {
  const parsed = parseSpecifier(text);
  return parsed.ok && isExact(parsed.specifier);
}

interface Prepared {
  script: BuilderScript;
  registry: string;
  cacheDir: string;
  environment: Readonly<Record<string, string>>;
}

async function prepareBuilds(options: BuilderOptions): Promise<Prepared> {
  const cacheDir = resolve(options.cacheDir);
  const [script, { url, cafile }] = await Promise.all([
    bundleBuilder(),
    registryOf(options),
    ...CACHE_FOLDERS.map((name) => mkdir(join(cacheDir, name), { recursive: true, mode: 0o700 })),
  ]);
  const trusted = cafile === undefined ? {} : { NODE_EXTRA_CA_CERTS: cafile };
  const environment = { ...trusted, ...options.environment };
  return { script, registry: url.endsWith('/') ? url : `${url}/`, cacheDir, environment };
}

async function registryOf({ registryUrl }: BuilderOptions): Promise<RegistrySettings> {
  return registryUrl === undefined ? findRegistry() : { url: registryUrl };
}
