import { dirname, join } from 'node:path';
import type { ProcessStarter } from '../starter/starter.ts';
import { type BuildLayer, type BuildSurroundings, findBuildConfinement } from '../confinement/build-prefix.ts';
import { listMissing } from '../confinement/describe-layers.ts';
import { findKoffi } from '../syscall-filter/find-koffi.ts';
import { buildCommand } from './build-command.ts';
import { CACHE_FOLDERS } from './packages/package-cache.ts';
import { type BuildScripts, bundleScripts, findEsbuildPaths } from './build-scripts.ts';
import type { BuildLimits } from './packages/build-order.ts';
import { createTaskPool, type TaskPool } from './task-pool.ts';

export interface BuildProcessesOptions {
  cacheDir: string;
  /** All of the environment of the processes that fetch. */
  environment(): Promise<Readonly<Record<string, string>>>;
  limits: Pick<BuildLimits, 'maxMemoryMb' | 'maxBundleMemoryMb'>;
  signal: AbortSignal;
  starter(): Promise<ProcessStarter>;
  log(level: 'warn', message: string, fields: Record<string, unknown>): void;
}

/**
 * The processes of builds: those that fetch packages have a network and no bundler, those that
 * bundle the other way round.
 */
export interface BuildProcesses {
  /** Components without packages: a process serves several tasks, of one tenant. */
  plain: TaskPool;
  /** One process for each component that brings packages. */
  trees: TaskPool;
  fetching: TaskPool;
  /**
   * Finds the layers of the operating system that confine a bundler here, and logs the missing
   * ones. Otherwise the first task does it.
   */
  findLayers(): Promise<readonly BuildLayer[]>;
  stop(): void;
}

const PLAIN_TASKS_PER_PROCESS = 100;
const MAX_CPU_S = 120;
const MAX_FETCHED_FILE_MB = 256;

/** Starts nothing before there is a task. */
export function createBuildProcesses(options: BuildProcessesOptions): BuildProcesses {
  const { cacheDir, signal, environment, starter } = options;
  const { maxMemoryMb, maxBundleMemoryMb } = options.limits;
  const writable = CACHE_FOLDERS.map((name) => join(cacheDir, name));
  let scripts: Promise<BuildScripts> | undefined;
  let withNetwork: ReturnType<typeof findBuildConfinement> | undefined;
  const esbuildPaths = findEsbuildPaths();
  const bundlerConfinement = keepBundlerConfinement(esbuildPaths, writable, options.log);
  const bundler = async (readable: string[], maxMb: number) => {
    scripts ??= bundleScripts();
    const { bundle } = await scripts;
    const command = buildCommand({
      readable: [...esbuildPaths, ...readable],
      writable: [],
      mayStartPrograms: true,
      addon: findKoffi(),
      prefix: (await bundlerConfinement()).prefix,
      maxMemoryMb: maxMb,
      maxCpuS: MAX_CPU_S,
      maxFileMb: 0,
    });
    return { command, script: bundle, environment: {}, starter: await starter() };
  };
  const fetcher = async () => {
    scripts ??= bundleScripts();
    withNetwork ??= findBuildConfinement({ network: true, readable: [process.execPath], writable });
    const { fetch } = await scripts;
    const cache = [join(cacheDir, '*')];
    const command = buildCommand({
      readable: cache,
      writable: cache,
      mayStartPrograms: false,
      prefix: (await withNetwork).prefix,
      maxMemoryMb,
      maxCpuS: MAX_CPU_S,
      maxFileMb: MAX_FETCHED_FILE_MB,
    });
    const variables = { ...(await environment()), NODE_USE_ENV_PROXY: '1' };
    return { command, script: fetch, environment: variables, starter: await starter() };
  };
  const plain = createTaskPool({
    start: () => bundler([], maxBundleMemoryMb),
    maxTasks: PLAIN_TASKS_PER_PROCESS,
    signal,
  });
  const trees = createTaskPool({ start: () => bundler([join(cacheDir, '*')], maxMemoryMb), maxTasks: 1, signal });
  const fetching = createTaskPool({ start: fetcher, maxTasks: 1, signal });
  return {
    plain,
    trees,
    fetching,
    findLayers: async () => (await bundlerConfinement()).layers,
    stop() {
      for (const pool of [plain, trees, fetching]) pool.stop();
    },
  };
}

/** Looks for it at the first call, and again after one that failed. */
function keepBundlerConfinement(esbuildPaths: string[], writable: string[], log: BuildProcessesOptions['log']) {
  const readable = [process.execPath, ...esbuildPaths.map((path) => dirname(path))];
  let found: ReturnType<typeof findBuildConfinement> | undefined;
  return () => {
    found ??= findBundlerConfinement({ network: false, readable, writable }, log).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

/** Says once what of it does not work here. */
async function findBundlerConfinement(surroundings: BuildSurroundings, log: BuildProcessesOptions['log']) {
  const found = await findBuildConfinement(surroundings);
  const missing = listMissing(found.layers);
  const message = `Build processes run without some layers of the operating system: ${missing}. What each would stop: docs/security.md`;
  if (missing !== '') log('warn', message, {});
  return found;
}
