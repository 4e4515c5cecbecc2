import { HeadwaterError, LIMITS } from '@headwater/shared';
import { bundleGuest } from '../build/bundle-guest.ts';
import { bundleProcess } from '../build/bundle-process.ts';
import { pickGuestLimits } from '../protocol/guest-limits.ts';
import type { ComponentBundle, DescribeOutcome, RunHost, RunOutcome, RunRequest, Sandbox } from '../sandbox.ts';
import { childCommand } from './child-command.ts';
import { DescribeClient } from './describe-client.ts';
import { findNetworkPrefix } from './network-namespace.ts';
import { ProcessPool } from './process-pool.ts';
import { RunClient } from './run-client.ts';
import type { SandboxProcess, TaskOrder } from './sandbox-process.ts';

export interface SandboxOptions {
  /** Where the sandbox says what happened to its processes. Default: nowhere. */
  log?: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) => void;
  /** Booted processes kept for tenants that have none yet. Default 1; 0 makes every first run wait for a boot. */
  blankProcesses?: number;
  /** Processes at the same time, blank ones included; the rest waits. Default 32, at least 1. Each takes some 60 MB. */
  maxProcesses?: number;
  /** Runs in flight in one process; the rest waits. Default LIMITS.maxRunsPerTenant. */
  maxRunsPerProcess?: number;
  /** A process that has served this many runs is replaced when it can be. Default 100 000. */
  recycleAfterRuns?: number;
  /** A process of this age is replaced when it can be. Default one hour. */
  recycleAfterMs?: number;
  /** A tenant's process without a run is ended after this time. Default five minutes. */
  idleMs?: number;
  /** Warm isolates in one process. Default 24. */
  maxIsolates?: number;
  /** Heap that the warm isolates of one process may hold together. Default 512 MB. */
  maxWarmHeapMb?: number;
  /** Resident memory at which a process is killed; at 70 % of it, it takes no new runs. Default 1 536 MB. Linux only. */
  maxRssMb?: number;
}

const DESCRIBE_LIMITS = {
  cpuMs: LIMITS.describeCpuMs,
  wallMs: LIMITS.describeWallMs,
  memoryMb: LIMITS.describeMemoryMb,
};

/**
 * Starts the sandbox: bundles the guest, and boots the first blank process to know that processes can be started at all.
 * Rejects when they cannot. `stop` of the result ends every process.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { maxIsolates = 24, maxWarmHeapMb = 512 } = options;
  const log = options.log ?? (() => undefined);
  const [guestCode, processCode, networkPrefix] = await Promise.all([
    bundleGuest(),
    bundleProcess(),
    findNetworkPrefix(),
  ]);
  if (networkPrefix.length === 0)
    log('info', 'Sandbox processes share the network of this one: the platform has no unshare', {});
  const pool = new ProcessPool({
    process: {
      guest: { code: guestCode, snapshot: undefined },
      processCode,
      command: childCommand(networkPrefix),
      settings: { limits: pickGuestLimits(LIMITS), maxIsolates, maxWarmHeapMb, spareMemoryMb: LIMITS.isolateMemoryMb },
      maxRssMb: options.maxRssMb ?? 1_536,
      log,
    },
    blankProcesses: options.blankProcesses ?? 1,
    maxProcesses: Math.max(1, options.maxProcesses ?? 32),
    maxRunsPerProcess: options.maxRunsPerProcess ?? LIMITS.maxRunsPerTenant,
    recycleAfterRuns: options.recycleAfterRuns ?? 100_000,
    recycleAfterMs: options.recycleAfterMs ?? 3_600_000,
    idleMs: options.idleMs ?? 300_000,
  });
  await pool.start();
  return {
    describe: (tenantId, bundle) => describe(pool, tenantId, bundle),
    run: (request, host) => run(pool, request, host),
    stats: () => pool.stats(),
    stop: () => pool.stop(),
  };
}

function run(pool: ProcessPool, request: RunRequest, host: RunHost): Promise<RunOutcome> {
  return new Promise((resolve) => {
    const client = new RunClient(request, host, resolve);
    const { tenantId, alone, bundle, limits } = request;
    const order = orderOf(request);
    pool.place({ tenantId, alone, client, start: (process) => process.start(order, bundle, limits.wallMs, client) });
  });
}

function orderOf(request: RunRequest): TaskOrder {
  const { isolateKey, limits, entry, dedupe } = request;
  const order: TaskOrder = {
    kind: 'run',
    isolateKey,
    limits,
    props: JSON.stringify(request.props),
    event: entry.kind === 'run' ? entry.event : '',
  };
  if (entry.kind === 'hook') order.hook = entry.hook;
  if (dedupe !== undefined) order.dedupe = dedupe;
  return order;
}

/**
 * Throws UNAVAILABLE when the processes keep ending for reasons that are not the component's, as when the sandbox stops.
 */
async function describe(pool: ProcessPool, tenantId: string, bundle: ComponentBundle): Promise<DescribeOutcome> {
  // Code that was never seen may take its process with it: it gets one without runs in flight, and the second time its own.
  const first = await describeOnce(pool, tenantId, bundle, pool.isBusy(tenantId));
  const outcome = first ?? (await describeOnce(pool, tenantId, bundle, true));
  if (outcome === undefined)
    throw new HeadwaterError('UNAVAILABLE', 'The component could not be loaded: no sandbox process stayed up');
  return outcome;
}

function describeOnce(
  pool: ProcessPool,
  tenantId: string,
  bundle: ComponentBundle,
  alone: boolean,
): Promise<DescribeOutcome | undefined> {
  return new Promise((resolve) => {
    const client = new DescribeClient(bundle, resolve);
    const order: TaskOrder = { kind: 'describe', limits: DESCRIBE_LIMITS };
    const start = (process: SandboxProcess): void => process.start(order, bundle, DESCRIBE_LIMITS.wallMs, client);
    pool.place({ tenantId, alone, client, start });
  });
}
