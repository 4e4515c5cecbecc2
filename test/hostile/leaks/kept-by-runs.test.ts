import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { childProcesses } from '../../support/child-processes.ts';
import { attackMemory, expectNothingKept, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

// isolate: Array buffers, which live outside of the heap, kept by run after run.
describe('buffers-of-earlier-runs', () => {
  const world = hostile({ ownAccounts: true });
  const MEMORY_MB = 32;
  const BUFFER_BYTES = 4_000_000;
  const FIT = Math.floor((MEMORY_MB * 2 ** 20) / BUFFER_BYTES);
  const RUNS = 14;

  it('they count against the isolate, which never holds more than its limit', async () => {
    await world.limit({ memoryMb: MEMORY_MB });
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      const kept = [];
      export default { name: 'Buffers', version: '1', run() {
        kept.push(new Uint8Array(${BUFFER_BYTES}).fill(1));
        this.$emit(kept.length);
      } };`);
      const outcomes = [];
      for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
      return outcomes;
    });
    // Those there is room for are made; the next one throws in its run, and the one after it has an
    // isolate of its own.
    const failed = runs.flatMap((run) => run.error ?? []);
    const limit = { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) };
    expect(failed).toMatchObject(failed.map(() => ({ code: 'MEMORY_LIMIT', limit })));
    expect(runs.slice(0, FIT).map((run) => run.error)).toEqual(Array(FIT).fill(undefined));
    expect(failed).toHaveLength(1);
    const counted = runs.at(-1)?.events as number[];
    expect(Math.max(...counted)).toBeLessThanOrEqual(FIT);
    expect(counted.length + failed.length).toBe(RUNS);
    expect(counted.slice(-(RUNS - FIT - 1))).toEqual(Array.from({ length: RUNS - FIT - 1 }, (_, i) => i + 1));
  });
});

// process: Hundreds of sources of one tenant in turn, each of which wants an isolate of its own.
describe('isolate-churn', () => {
  const world = hostile({ ownAccounts: true });
  const sandbox = sandboxForFile({ maxIsolates: 4 });
  /** Ten thousand in the long run of the tests. */
  const ISOLATES = longRun(140, 10_000);
  const WARM_UP = longRun(40, 100);
  const AT_ONCE = 4;
  /** A leaked isolate takes a megabyte, and its data for a run a tenth of one. */
  const MAX_GROWTH_MB = 32;

  function residentMb(pid: number): number {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  it.runIf(process.platform === 'linux')(
    'isolates that were let go leave no memory behind',
    { timeout: 900_000 },
    async () => {
      const component = await bundle(
        withRun(`kept.push(...new Array(1e4).fill(event)); this.$emit(kept.length)`, 'const kept = [];'),
      );
      const churn = async (count: number): Promise<void> => {
        let left = count;
        const one = async () => {
          while (left-- > 0) {
            const { host } = await sandbox.run(component, { tenantId: 'o_churn', isolateKey: freshKey() });
            expect(host.data()).toEqual([10_000]);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, one));
      };
      await churn(WARM_UP);
      const [child] = childProcesses();
      const before = residentMb(child!.pid);
      await world.unharmed(() => churn(ISOLATES - WARM_UP));
      expect(childProcesses().map(({ pid }) => pid)).toEqual([child!.pid]);
      expect(residentMb(child!.pid) - before).toBeLessThan(MAX_GROWTH_MB);
      const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
      expect(other.host.data()).toEqual(['fine']);
    },
  );
});

// bridge: Listeners that earlier runs left in the warm isolate, and that put out something in the
// name of their run when a later one calls them.
describe('listeners-of-earlier-runs', () => {
  const world = hostile({ ownAccounts: true });

  it('output of an ended run is dropped', async () => {
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      const target = new EventTarget();
      let count = 0;
      export default { name: 'Listeners', version: '1', props: { db: '$.service.db' }, run() {
        const own = ++count;
        target.addEventListener('wake', () => { try { this.$emit('of ' + own); this.db.set('of', own) } catch {} });
        target.dispatchEvent(new Event('wake'));
      } };`);
      const outcomes = [];
      for (let i = 0; i < 4; i++) outcomes.push(await world.run(id));
      return outcomes;
    });
    expect(runs.map((run) => run.error)).toEqual(Array(4).fill(undefined));
    expect(runs.at(-1)?.events).toEqual(['of 1', 'of 2', 'of 3', 'of 4']);
  });
});

// limits: A million timers, each refusal of which is caught, left open by run after run.
describe('million-timers', () => {
  const world = hostile({ ownAccounts: true });
  const sandbox = sandboxForFile();
  const TIMERS = `
export default { name: 'Timers', version: '1', run({ asked }) {
  Error.stackTraceLimit = 0;
  let opened = 0; const names = new Set();
  for (let i = 0; i < asked; i++) {
    // Those of two runs do not fit into one isolate.
    const large = opened < 500 ? new Uint8Array(150_000).fill(1) : undefined;
    try { setTimeout(() => this.$emit(large), 1).unref(); opened += 1 } catch (error) { names.add(error.name) }
  }
  for (let i = 0; i < 500; i++) try { setInterval(() => this.$emit('late'), 1).unref() } catch {}
  this.$emit([opened, ...names]);
} };`;

  it('each run may open its full number after earlier runs left theirs open', async () => {
    await world.limit({ maxTimersPerRun: 500, runCpuMs: 300_000, timerRunWallMs: 600_000 });
    const runs = await world.unharmed(() =>
      withinMemory(world.server, async () => {
        const { id } = await world.attacker.deploy(TIMERS);
        const ran = [];
        for (const asked of [longRun(20_000, 1e6), 1_000, 1_000]) ran.push(await world.run(id, { asked }, 200_000));
        return ran;
      }),
    );
    expect(runs.map((run) => run.error)).toEqual([undefined, undefined, undefined]);
    // Timers of an ended run never fire.
    expect(runs.at(-1)?.events).toEqual(Array.from({ length: 3 }, () => [500, 'LimitError']));
  });

  it.runIf(process.platform === 'linux')('nothing of them stays in the sandbox process', async () => {
    const component = await bundle(TIMERS);
    const options = { isolateKey: 'dc_timers:1', cpuMs: 300_000, wallMs: 600_000, account: { maxTimersPerRun: 500 } };
    await world.unharmed(() =>
      expectNothingKept(longRun(4, 8), async () => {
        let ran;
        // On a full machine an isolate may count as stuck with the leftovers of an earlier run.
        // Then the next run is innocent, and is repeated.
        do ran = await sandbox.run(component, { ...options, event: { asked: longRun(10_000, 50_000) } });
        while (!ran.outcome.ok && ran.outcome.innocent);
        expect([ran.outcome, ran.host.data()]).toEqual([expect.objectContaining({ ok: true }), [[500, 'LimitError']]]);
      }),
    );
  });
});

// limits: A hundred thousand unhandled rejections.
describe('rejections-flood', () => {
  const world = hostile({ ownAccounts: true });

  it('the first ends the run as its error, and the source works afterwards', async () => {
    await world.limit({ maxLogLinesPerRun: 50, memoryMb: 256, runCpuMs: 60_000 });
    const [atOnce, inTurns, after] = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      export default { name: 'Rejections', version: '1', async run({ turns, each }) {
        for (let turn = 0; turn < turns; turn++) {
          for (let i = 0; i < each; i++) Promise.reject(new Error('lost ' + i));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        this.$emit('ended');
      } };`);
      const events = [{ turns: 1, each: 100_000 }, { turns: 100, each: 1_000 }, {}];
      const runs = [];
      for (const event of events) runs.push(await world.run(id, event, 60_000));
      return runs;
    });
    const error = {
      code: 'COMPONENT_ERROR',
      message: expect.stringMatching(/^Unhandled rejection: lost \d+$/) as string,
    };
    expect([atOnce?.error, inTurns?.error]).toMatchObject([error, error]);
    expect(after?.error).toBeUndefined();
    expect(after?.logs).toEqual([]);
    expect(after?.events).toEqual(['ended']);
  });
});

// isolate: Weak references made without end, each of which keeps its target until the current task
// is done.
describe('weak-references', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const registry = new FinalizationRegistry(() => {});
for (let i = 0; ; i++) {
  const target = { data: new Array(50).fill(i) };
  registry.register(target, i);
  new WeakRef(target).deref();
}`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});
