import { type Builder, type BuildOutcome, createBuilder } from '@headwater/sandbox-runtime';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { BuildLimits } from '../../sandbox-runtime/src/builder/packages/build-order.ts';
import { type PackageRegistry, startPackageRegistry } from './package-registry.ts';

/** Function that bundles call for a module of Node. */
const BUILTINS = '__headwaterBuiltin';

export interface BuildKit {
  registry: PackageRegistry;
  cacheDir: string;
  /** A builder of its own on the same cache; stopped at the end of the file. */
  builder(limits?: Partial<BuildLimits>): Builder;
  build(code: string, limits?: Partial<BuildLimits>): Promise<BuildOutcome>;
  /**
   * Builds, loads the bundle in this process and returns its default export. Throws the build's
   * errors.
   */
  load(code: string): Promise<unknown>;
}

/** A registry on loopback and a cache for one test file. */
export function buildKitForFile(): BuildKit {
  const kit = {} as BuildKit;
  const builders = new Map<string, Builder>();
  beforeAll(async () => {
    kit.registry = await startPackageRegistry();
    kit.cacheDir = await mkdtemp(path.join(tmpdir(), 'headwater-packages-'));
  });
  afterAll(async () => {
    for (const builder of builders.values()) await builder.stop();
    await kit.registry.stop();
    await rm(kit.cacheDir, { recursive: true, force: true });
    Reflect.deleteProperty(globalThis, BUILTINS);
  });
  kit.builder = (limits = {}) => {
    const key = JSON.stringify(limits);
    const builder =
      builders.get(key) ?? createBuilder({ cacheDir: kit.cacheDir, registryUrl: kit.registry.url, limits });
    builders.set(key, builder);
    return builder;
  };
  kit.build = (code, limits) => kit.builder(limits).build({ tenantId: 'o_test', component: oneFile(code) });
  kit.load = async (code) => {
    const outcome = await kit.build(code);
    if (!outcome.ok) throw new Error(outcome.errors.map(({ message }) => message).join('\n'));
    return loadBundle(outcome.bundle.code);
  };
  return kit;
}

export function oneFile(code: string): { entry: string; files: Record<string, string> } {
  return { entry: 'component.mjs', files: { 'component.mjs': code } };
}

/** The default export of a bundle, with Node's own modules where the guest has its registry. */
async function loadBundle(code: string): Promise<unknown> {
  Object.assign(globalThis, { [BUILTINS]: (name: string) => process.getBuiltinModule(name) });
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const loaded = (await import(url)) as { default: unknown };
  return loaded.default;
}
