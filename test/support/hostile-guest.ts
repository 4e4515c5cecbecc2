import { expect } from 'vitest';
import type { AttackOptions, AttackOutcome, HostileWorld } from './hostile.ts';

const RUN_CPU_MS = 200;
const MEMORY_MB = 32;

/** How a run ends that `attackCpu` or `attackMemory` made. */
export const CPU_LIMIT = {
  code: 'CPU_LIMIT',
  limit: { name: 'runCpuMs', value: RUN_CPU_MS, used: expect.any(Number) as number },
};
export const MEMORY_LIMIT = {
  code: 'MEMORY_LIMIT',
  limit: { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) as number },
};

/** V8 collects garbage ever more often as a heap fills up: on a busy machine that alone can reach the limit of time. */
export const MEMORY_OR_CPU_LIMIT = {
  code: expect.stringMatching(/^(MEMORY|CPU)_LIMIT$/) as string,
  limit: { name: expect.stringMatching(/^(memoryMb|runCpuMs)$/) as string, used: expect.any(Number) as number },
};

/** Runs the code as the attacker with little processor time; throws where others notice. */
export async function attackCpu(world: HostileWorld, code: string, options?: AttackOptions): Promise<AttackOutcome> {
  await world.limit({ runCpuMs: RUN_CPU_MS });
  return world.unharmed(() => world.attack(code, options));
}

/** Runs the code as the attacker with little memory; throws where others notice. */
export async function attackMemory(world: HostileWorld, code: string, options?: AttackOptions): Promise<AttackOutcome> {
  await world.limit({ memoryMb: MEMORY_MB, runCpuMs: 3_000 });
  return world.unharmed(() => world.attack(code, options));
}

/** Runs the code as the attacker and answers what it emitted; throws where it does not end well, or others notice. */
export async function emitsOf(world: HostileWorld, code: string, options?: AttackOptions): Promise<unknown[]> {
  const { refused, error, events } = await world.unharmed(() => world.attack(code, options));
  if (refused !== undefined || error !== undefined)
    throw new Error(`The run did not end well: ${JSON.stringify(refused ?? error)}`);
  return events;
}
