import { ACCOUNT_LIMITS, accountLimits, HeadwaterError, LIMITS } from '@headwater/shared';
import { bundleGuest } from '../builder/bundle-guest.ts';
import { bundleProcess } from '../builder/bundle-process.ts';
import { pickGuestLimits } from '../bridge/guest-limits.ts';
import { writeStepInput } from '../bridge/step-input.ts';
import type { RunHost, Sandbox } from '../sandbox.ts';
import type {
  ComponentBundle,
  DescribeOptions,
  DescribeOutcome,
  RunEntry,
  RunFault,
  RunOutcome,
  RunRequest,
} from '../sandbox-types.ts';
import { DescribeClient, type LoadOutcome } from './describe-client.ts';
import { type Confinement, findConfinement } from '../confinement/confinement.ts';
import { summarizeLayers } from '../confinement/describe-layers.ts';
import { openSnapshotStore } from './kept-snapshot.ts';
import { createLoadTurns, type LoadTurns } from './load-turns.ts';
import { ProcessPool } from './process-pool.ts';
import { createStackMaps, type MapStack } from './map-stack.ts';
import { RunClient } from './run-client.ts';
import type { SandboxProcess, TaskOrder } from './sandbox-process.ts';
import { createStarter, type ProcessStarter } from '../starter/starter.ts';

export interface SandboxOptions {
  /** Starts the sandbox's processes. Default: a starter of its own, which ends with it. */
  starter?: ProcessStarter;
  /**
   * The layers that confine its processes. Default: all that this system lets them be confined
   * with.
   */
  confinement?: Confinement;
  /** Log for events of processes. Default: none. */
  log?: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) => void;
  /**
   * Booted processes kept for tenants that have none yet. Default 1; 0 makes every first run wait
   * for a boot.
   */
  blankProcesses?: number;
  /**
   * Processes at the same time, blank ones included; the rest waits. Default 32, at least 1. Each
   * takes some 60 MB.
   */
  maxProcesses?: number;
  /**
   * Runs in flight in one process; the rest waits. Default: as many as an account may have at most.
   */
  maxRunsPerProcess?: number;
  /** A process that has served this many runs is replaced when it can be. Default 100 000. */
  recycleAfterRuns?: number;
  /** A process of this age is replaced when it can be. Default one hour. */
  recycleAfterMs?: number;
  /** A tenant's process without a run is ended after this time. Default five minutes. */
  idleMs?: number;
  /**
   * Warm isolates in one process, of some 4 MB each: a workflow has one for each of its steps.
   * Default 64.
   */
  maxIsolates?: number;
  /** Heap that the warm isolates of one process may hold together. Default 512 MB. */
  maxWarmHeapMb?: number;
  /**
   * Resident memory at which a process is killed; at 70 % of it, it takes no new runs. Default 1
   * 536 MB. Linux only.
   */
  maxRssMb?: number;
  /**
   * Tasks of one tenant that wait for a process or for a turn in one; further ones are refused.
   * Default LIMITS.maxQueuedRunsPerTenant.
   */
  maxQueuedPerTenant?: number;
  /** How long a run that is to be alone waits for a process. Default LIMITS.maxAloneWaitMs. */
  maxAloneWaitMs?: number;
  /** How long a component that is to be loaded waits for one. Default LIMITS.maxLoadWaitMs. */
  maxLoadWaitMs?: number;
  /**
   * A control group folder that is this node's to make groups in, with the memory controller.
   * Default: where the node is at the top of a hierarchy itself, as in some containers, that one.
   */
  controlGroup?: string | undefined;
}

const DESCRIBE_LIMITS = {
  cpuMs: LIMITS.describeCpuMs,
  wallMs: LIMITS.describeWallMs,
  wallLimit: 'hookWallMs',
} as const;

/**
 * Starts the sandbox: bundles the guest, and boots the first blank process to know that processes
 * can be started at all. Rejects when they cannot. `stop` of the result ends every process.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { maxIsolates = 64, maxWarmHeapMb = 512 } = options;
  const log = options.log ?? (() => undefined);
  const maxRssMb = options.maxRssMb ?? 1_536;
  const starting = options.starter === undefined ? createStarter() : Promise.resolve(options.starter);
  const [guestCode, processCode, confinement, starter] = await Promise.all([
    bundleGuest(),
    bundleProcess(),
    options.confinement ?? findConfinement({ starter: starting, maxRssMb, controlGroup: options.controlGroup, log }),
    starting,
  ]);
  const { level, message } = summarizeLayers(confinement.layers);
  log(level, message, { layers: confinement.layers.filter(({ active }) => active).map(({ layer }) => layer) });
  const loads = createLoadTurns(boundsOf(options));
  const snapshots = openSnapshotStore(guestCode);
  const pool = new ProcessPool({
    process: {
      guest: { code: guestCode, snapshot: snapshots.kept, keep: snapshots.keep },
      processCode,
      starter,
      launch: () => confinement.launch(),
      settings: {
        limits: pickGuestLimits(accountLimits()),
        maxIsolates,
        maxWarmHeapMb,
        spareMemoryMb: ACCOUNT_LIMITS.memoryMb.default,
      },
      maxRssMb,
      log,
    },
    blankProcesses: options.blankProcesses ?? 1,
    maxProcesses: Math.max(1, options.maxProcesses ?? 32),
    maxRunsPerProcess: options.maxRunsPerProcess ?? ACCOUNT_LIMITS.maxRunsPerAccount.max,
    recycleAfterRuns: options.recycleAfterRuns ?? 100_000,
    recycleAfterMs: options.recycleAfterMs ?? 3_600_000,
    idleMs: options.idleMs ?? 300_000,
    maxAloneWaitMs: options.maxAloneWaitMs ?? LIMITS.maxAloneWaitMs,
    ...boundsOf(options),
  });
  const stop = async (): Promise<void> => {
    loads.stop();
    await pool.stop();
    if (options.starter === undefined) await starter.stop();
  };
  try {
    await pool.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const mapStack = createStackMaps();
  return {
    describe: (tenantId, bundle, about) => describe({ pool, loads, mapStack }, { tenantId, bundle, ...about }),
    run: (request, host) => run(pool, mapStack, request, host),
    stats: () => pool.stats(),
    layers: () => confinement.layers,
    stop,
  };
}

function boundsOf({ maxQueuedPerTenant, maxLoadWaitMs }: SandboxOptions) {
  return {
    maxQueuedPerTenant: maxQueuedPerTenant ?? LIMITS.maxQueuedRunsPerTenant,
    maxLoadWaitMs: maxLoadWaitMs ?? LIMITS.maxLoadWaitMs,
  };
}

async function run(pool: ProcessPool, mapStack: MapStack, request: RunRequest, host: RunHost): Promise<RunOutcome> {
  const outcome = await runInProcess(pool, request, host);
  if (outcome.ok) return outcome;
  const { stack: raw, details, ...fault } = outcome.fault;
  const frames = raw === undefined ? undefined : (await mapStack(request.tenantId, request.bundle, raw))?.text;
  const lines = [frames, details?.trimEnd()].filter((text) => text !== undefined && text !== '');
  const stack = lines.length === 0 ? {} : { stack: [fault.message, ...lines].join('\n') };
  return { ...outcome, fault: { ...fault, ...stack } };
}

/** The stack of a fault is as the guest says it. */
function runInProcess(pool: ProcessPool, request: RunRequest, host: RunHost): Promise<RunOutcome> {
  return new Promise((resolve) => {
    const { tenantId, alone, bundle, limits, signal } = request;
    let cancelStarted: (() => void) | undefined;
    const cancel = (): void => {
      client.lose(CANCELLED, 'nobody');
      if (cancelStarted === undefined) pool.withdraw(client);
      else cancelStarted();
    };
    const client = new RunClient(request, host, (outcome) => {
      signal?.removeEventListener('abort', cancel);
      resolve(outcome);
    });
    const order = orderOf(request);
    const start = (process: SandboxProcess): void => {
      client.begin();
      process.setLimits(limits.account);
      const number = process.start(order, bundle, limits.wallMs, client);
      cancelStarted = () => process.cancel(number);
    };
    if (signal?.aborted === true) return client.lose(CANCELLED, 'nobody');
    signal?.addEventListener('abort', cancel, { once: true });
    pool.place({ kind: 'run', tenantId, alone, wallMs: limits.wallMs, client, start });
  });
}

const CANCELLED: RunFault = { code: 'SANDBOX_CRASHED', message: 'The run was cancelled' };

function orderOf(request: RunRequest): TaskOrder {
  const { isolateKey, entry, dedupe } = request;
  const { account: _, ...limits } = request.limits;
  return {
    kind: 'run',
    isolateKey,
    entry: entry.kind === 'hook' ? entry.hook : entry.kind,
    limits,
    props: JSON.stringify(request.props),
    event: inputOf(entry),
    ...(dedupe === undefined ? {} : { dedupe }),
  };
}

function inputOf(entry: RunEntry): string {
  switch (entry.kind) {
    case 'run':
      return entry.event;
    case 'hook':
      return '';
    case 'options':
      return JSON.stringify(entry);
    case 'additional-props':
      return entry.previousPropDefs;
    case 'step':
      return writeStepInput(entry.input);
    case 'transform':
      return entry.request;
  }
}

interface DescribeTask extends DescribeOptions {
  tenantId: string;
  bundle: ComponentBundle;
}

/**
 * Throws UNAVAILABLE if processes keep ending for reasons outside the component, such as a stop of
 * the sandbox. Throws RATE_LIMITED if too many loads of the tenant wait, or this one waited too
 * long.
 */
async function describe(
  { pool, loads, mapStack }: { pool: ProcessPool; loads: LoadTurns; mapStack: MapStack },
  task: DescribeTask,
): Promise<DescribeOutcome> {
  // Code that was never seen may take its process with it: it gets one without runs in flight, and
  // the second time its own.
  const loaded = await loads.run(task.tenantId, task.bundle.code.length, async () => {
    const first = await describeOnce(pool, task, { alone: pool.isBusy(task.tenantId), mayRepeat: true });
    return first ?? describeOnce(pool, task, { alone: true, mayRepeat: false });
  });
  if (loaded === undefined)
    throw new HeadwaterError('UNAVAILABLE', 'The component could not be loaded: no sandbox process stayed up');
  if (loaded.kind === 'refused') {
    const { message, limit } = loaded;
    throw new HeadwaterError('RATE_LIMITED', message, { limit, retryAfterSeconds: 1 });
  }
  const { outcome, stack } = loaded;
  if (outcome.ok || stack === undefined) return outcome;
  const mapped = await mapStack(task.tenantId, task.bundle, stack);
  return { ...outcome, errors: outcome.errors.map((error) => ({ ...error, ...mapped?.place })) };
}

function describeOnce(
  pool: ProcessPool,
  { tenantId, bundle, stepName, memoryMb: accountMb = 0 }: DescribeTask,
  { alone, mayRepeat }: { alone: boolean; mayRepeat: boolean },
): Promise<LoadOutcome | undefined> {
  // Loading may use as much memory as the account's runs. An account with a small limit still gets
  // the platform's value, so it can save the same components.
  const memoryMb = Math.max(LIMITS.describeMemoryMb, accountMb);
  const memoryLimit = memoryMb > LIMITS.describeMemoryMb ? 'memoryMb' : 'describeMemoryMb';
  return new Promise((resolve) => {
    const client = new DescribeClient({ stepName, memoryLimit, mayRepeat }, resolve);
    const order: TaskOrder = { kind: 'describe', limits: { ...DESCRIBE_LIMITS, memoryMb } };
    const start = (process: SandboxProcess): void => void process.start(order, bundle, DESCRIBE_LIMITS.wallMs, client);
    pool.place({ kind: 'load', tenantId, alone, wallMs: DESCRIBE_LIMITS.wallMs, client, start });
  });
}
