import { expect } from 'vitest';
import { childProcesses } from './child-processes.ts';
import type { AttackOptions, AttackOutcome, HostileWorld } from './hostile.ts';
import { residentBytes } from './hostile-server.ts';

const RUN_CPU_MS = 200;
const MEMORY_MB = 32;
const AMPLE_CPU_MS = 30_000;
/**
 * Largest growth of a sandbox process between the first and the last run: V8 has not yet returned
 * memory of runs with a few megabytes.
 */
const MAX_SANDBOX_GROWTH_BYTES = 150 * 1024 * 1024;

/** How a run ends that `attackCpu` or `attackMemory` made. */
export const CPU_LIMIT = {
  code: 'CPU_LIMIT',
  limit: { name: 'runCpuMs', value: RUN_CPU_MS, used: expect.any(Number) as number },
};
export const MEMORY_LIMIT = {
  code: 'MEMORY_LIMIT',
  limit: { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) as number },
};

/** Runs the code as the attacker with little processor time; throws where others notice. */
export async function attackCpu(world: HostileWorld, code: string, options?: AttackOptions): Promise<AttackOutcome> {
  await world.limit({ runCpuMs: RUN_CPU_MS });
  return world.unharmed(() => world.attack(code, options));
}

/**
 * Runs the code as the attacker with little memory; throws where others notice. V8 collects garbage
 * ever more often as a heap fills up, for seconds: there is more processor time than that can take,
 * so that the run ends at the limit of memory and at no other.
 */
export async function attackMemory(world: HostileWorld, code: string, options?: AttackOptions): Promise<AttackOutcome> {
  await world.limit({ memoryMb: MEMORY_MB, runCpuMs: AMPLE_CPU_MS });
  return world.unharmed(() => world.attack(code, { timeoutMs: 2 * AMPLE_CPU_MS, ...options }));
}

/**
 * Runs the code as the attacker, and returns its events. Throws if the run fails, or other tenants
 * are affected.
 */
export async function emitsOf(world: HostileWorld, code: string, options?: AttackOptions): Promise<unknown[]> {
  const { refused, error, events } = await world.unharmed(() => world.attack(code, options));
  if (refused !== undefined || error !== undefined)
    throw new Error(`The run did not end well: ${JSON.stringify(refused ?? error)}`);
  return events;
}

/**
 * Repeats a run in a sandbox of this process, which has one process of its own. Expects that the
 * process does not stay larger than after the first run. Linux only.
 */
export async function expectNothingKept(runs: number, run: () => Promise<unknown>): Promise<void> {
  await run();
  const children = childProcesses().map((child) => child.pid);
  expect(children).toHaveLength(1);
  const pid = children[0]!;
  const before = residentBytes(pid);
  let made = 1;
  for (; made < runs; made++) await run();
  // One that was ended and replaced would keep nothing either.
  expect(childProcesses().map((child) => child.pid)).toEqual(children);
  const grown = () => residentBytes(pid) - before;
  // Garbage of an isolate stays until its next run; leaked memory stays after it too.
  while (grown() >= MAX_SANDBOX_GROWTH_BYTES && made++ < 2 * runs) await run();
  expect(grown()).toBeLessThan(MAX_SANDBOX_GROWTH_BYTES);
}
