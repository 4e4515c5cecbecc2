import type { RunOutcome } from '@headwater/sandbox-runtime';
import { describe, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { bundle, freshKey, sandboxForFile, soon, withRun } from '../../support/sandbox-kit.ts';

// process: The neighbour's very code, to be given its warm isolate with its globals and its module
// state.
describe('state-of-the-same-code', () => {
  const world = hostile({ ownAccounts: true });
  const CODE = `const state = { runs: 0, seen: [] };
export default { name: 'Same', key: 'same', version: '1', props: { http: '$.interface.http' },
  run(event) {
    globalThis.leaked = (globalThis.leaked ?? '') + event.mark; state.runs++; state.seen.push(event.mark);
    Object.prototype.polluted ??= event.mark;
    this.$emit({ ...state, leaked: globalThis.leaked, polluted: ({}).polluted });
  } };`;

  it('isolates belong to one source of one account', async () => {
    const { attacker, neighbour, sql } = world;
    const theirs = await neighbour.deploy(CODE);
    const runTheirs = () => neighbour.api('POST', `/sources/${theirs.id}/run`, { event: { mark: 'neighbour' } });
    await runTheirs();
    const ran = await world.unharmed(async () => {
      const own = await attacker.deploy(CODE);
      await world.run(own.id, { mark: 'attacker' });
      await runTheirs();
      const again = await attacker.deploy(CODE);
      return [await world.run(own.id, { mark: 'attacker' }), await world.run(again.id, { mark: 'attacker' })];
    });
    expect(ran.flatMap(({ events }) => events)).toHaveLength(3);
    expect(JSON.stringify(ran)).not.toContain('neighbour');
    const hashes =
      await sql`select distinct code_hash from components where key = 'same' and account_id in (${attacker.id}, ${neighbour.id})`;
    expect(hashes).toHaveLength(1);
  });
});

// fairness: Accounts that share a pool of processes: their runs sleep, and one ends the process,
// so that each is to be repeated alone.
describe('sleepers-in-all-processes', () => {
  const world = hostile({ ownAccounts: true });
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
});
