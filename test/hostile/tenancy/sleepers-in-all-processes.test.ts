// fairness: Accounts that share a pool of processes: their runs sleep, and one ends the process, so that each is to be repeated alone.
import type { RunOutcome } from '@headwater/sandbox-runtime';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { bundle, freshKey, sandboxForFile, soon, withRun } from '../../support/sandbox-kit.ts';

const world = hostile();
const PROCESSES = 8;
const sandbox = sandboxForFile({ maxProcesses: PROCESSES, blankProcesses: 1 });
const ATTACKERS = ['o_1', 'o_2', 'o_3', 'o_4'];
const SLEEPERS = 4;
/**
 * Each attacker has its first process, and three of the eight processes may be extra ones, of any
 * tenant.
 */
const HELD = ATTACKERS.length + 3;
const OTHERS = ['o_neighbour', 'o_5', 'o_6', 'o_7', 'o_8', 'o_neighbour'];
const SLEEP_MS = 45_000;
/** Less than half of the sleep of those that hold the processes. */
const MAX_WAIT_MS = 20_000;

it('others have a process at once while the sleepers are repeated', { timeout: 180_000 }, async () => {
  const sleep = await bundle(withRun(`await new Promise((end) => setTimeout(end, ${SLEEP_MS}))`));
  const crash = await bundle(withRun('Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);'));
  const say = await bundle(withRun(`this.$emit('fine')`));
  const run = async (tenantId: string, alone: boolean, code = sleep): Promise<RunOutcome> => {
    const limits = { wallMs: 2 * SLEEP_MS, ...(code === crash ? { cpuMs: 200 } : {}) };
    return (await sandbox.run(code, { tenantId, alone, isolateKey: freshKey(), ...limits })).outcome;
  };
  let lost = new Map<string, number>();
  const lostOf = (tenantId: string): number => lost.get(tenantId) ?? 0;
  /** As the engine repeats it. */
  const sleepWell = async (tenantId: string): Promise<void> => {
    const first = await run(tenantId, false);
    if (first.ok || !first.innocent) return;
    lost.set(tenantId, lostOf(tenantId) + 1);
    await run(tenantId, true);
  };
  const runs: Promise<unknown>[] = [];
  /** Sleepers that begin slowly can be in more than one process, and each crash ends one. */
  const attack = async (tenantId: string): Promise<void> => {
    runs.push(...Array.from({ length: SLEEPERS }, () => sleepWell(tenantId)));
    for (let crashes = 0; crashes < SLEEPERS && lostOf(tenantId) < SLEEPERS; crashes++)
      await run(tenantId, false, crash);
  };
  const busy = (): number => {
    const { processes, idleProcesses } = sandbox.get().stats();
    return processes - idleProcesses;
  };
  await world.unharmed(async () => {
    lost = new Map();
    expect((await sandbox.run(say, { tenantId: 'o_neighbour' })).host.data()).toEqual(['fine']);
    await Promise.all(ATTACKERS.map(attack));
    await soon(() => ATTACKERS.map(lostOf)).toEqual(ATTACKERS.map(() => SLEEPERS));
    // Their other runs go on.
    runs.push(...ATTACKERS.map((tenantId) => run(tenantId, false)));
    await soon(busy).toBeGreaterThanOrEqual(HELD);
    for (const tenantId of OTHERS) {
      const beganAtMs = performance.now();
      expect((await sandbox.run(say, { tenantId })).host.data()).toEqual(['fine']);
      expect(performance.now() - beganAtMs).toBeLessThan(MAX_WAIT_MS);
    }
    expect(busy()).toBe(HELD);
  });
  await sandbox.get().stop();
  await Promise.all(runs);
});
