import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// limits: A loop that never ends.
describe('sync-loop', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'for (;;);');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Promises that settle each other, so that the isolate is never left.
describe('microtask-loop', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `const again = () => Promise.resolve().then(again);
await again();`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Timers of no delay that set each other: the isolate is entered again and again, and does
// next to nothing.
describe('timers-without-delay', () => {
  const world = hostile();

  it('entering the isolate counts as CPU time, and the run ends at its CPU limit', async () => {
    await world.limit({ runCpuMs: 100, timerRunWallMs: 15_000 });
    const ran = await world.unharmed(() =>
      world.attack(
        'const again = () => setImmediate(again); for (let i = 0; i < 50; i++) again(); await new Promise(() => {});',
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 100 } });
  });
});

// limits: A loop after an answer of the platform: a request, a hash and a read of the store.
describe('loop-after-a-host-call', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `await fetch('http://127.0.0.1:1/').catch(() => {});
await crypto.subtle.digest('SHA-256', new Uint8Array(8));
this.db.get('key');
for (;;);`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A loop after the first await, where a timeout of the first call no longer counts.
describe('loop-after-a-timer', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(
      world,
      `await new Promise((resolve) => setTimeout(resolve, 5));
for (;;);`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: A loop in a hook, while a source is being deployed.
describe('loop-in-a-hook', () => {
  const world = hostile();

  it('the deployment is refused, and says why', async () => {
    await world.limit({ runCpuMs: 200 });
    const code = `export default { name: 'Hook', version: '1', hooks: { deploy() { for (;;); } }, run() {} };`;
    const { refused } = await world.unharmed(() => world.attack(code));
    expect(refused).toMatchObject({
      status: 422,
      code: 'hook-failed',
      errors: [{ path: 'hooks.deploy', message: expect.stringContaining('the limit runCpuMs is 200 ms') }],
      limit: { name: 'runCpuMs', value: 200 },
    });
    expect(refused?.limit?.used).toBeGreaterThanOrEqual(200);
  });
});

// limits: A loop at the top level of a component: it is loaded to be described when it is saved.
describe('loop-while-loading', () => {
  const world = hostile();

  it('the component is refused, and says why', async () => {
    const { refused } = await world.unharmed(() =>
      world.attack(`for (;;);
export default { name: 'Loop', version: '1', run() {} };`),
    );
    expect(refused).toMatchObject({ status: 400, code: 'invalid-component' });
    // On a busy machine the time is over before that much of it was the component's.
    const name = refused?.limit?.name === 'describeWallMs' ? 'describeWallMs' : 'describeCpuMs';
    expect(refused?.limit).toEqual({ name, value: LIMITS[name], used: expect.any(Number) });
    expect(refused?.limit?.used).toBeGreaterThanOrEqual(LIMITS[name]);
    expect(refused?.detail).toContain(`the limit ${name} is`);
  });
});

// limits: A loop at the top level that waits until the component has been described, and runs when
// it is loaded to be run.
describe('loop-while-loading-later', () => {
  const world = hostile();

  it('ends at the limit of CPU time of the run', async () => {
    await world.limit({ runCpuMs: CPU_LIMIT.limit.value });
    const ran = await world.unharmed(async () => world.run(await deployLoop(1_500)));
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });

  /**
   * If saving takes longer than the wait, `describe` already runs the loop; then the wait is too
   * short.
   */
  async function deployLoop(waitMs: number): Promise<string> {
    const at = Date.now() + waitMs;
    const component_code = `if (Date.now() > ${at}) for (;;);
    export default { name: 'Late', version: '1', run() {} };`;
    const deployed = await world.attacker.api('POST', '/sources', { component_code });
    if (deployed.status !== 200) return deployLoop(waitMs * 3);
    await eventually(() => Date.now() > at, { what: 'the moment of the attack', timeoutMs: waitMs + 1_000 });
    return deployed.body.data.id as string;
  }
});

// limits: A generator without end, spread into a set.
describe('generator-without-end', () => {
  const world = hostile();

  it('ends at the limit of CPU time', async () => {
    const ran = await attackCpu(world, 'new Set((function* () { for (;;) yield 1; })());');
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Timers that each compute for less than is noticed, of a run that has ended while another
// one keeps the isolate.
describe('timers-of-an-ended-run', () => {
  const world = hostile();

  const CODE = `let spins = 0;
export default { name: 'Spin', version: '1', async run({ spin }) {
  if (!spin) {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    this.$emit(spins);
    return;
  }
  for (let i = 0; i < 60; i++) setTimeout(() => { const until = Date.now() + 150; while (Date.now() < until); spins++ }, 1);
} };`;

  it('get no more processor time together than the run may use', async () => {
    const { attacker } = world;
    await world.limit({ runCpuMs: 1_000 });
    const { id } = await attacker.deploy(CODE);
    const kept = await world.unharmed(async () => {
      const waits = world.run(id, {}, 60_000);
      await attacker.api('POST', `/sources/${id}/run`, { event: { spin: true } });
      return waits;
    });
    // It may have been run again, by itself.
    expect(kept.events[0] ?? 0).toBeLessThan(20);
  });
});

// process: Two sources of one account that hash without end, in turn: the process is asked again
// before it has answered.
describe('two-that-ask-without-end', () => {
  const world = hostile();
  const RUN_CPU_MS = longRun(1_500, 3_000);

  const source = (body: string) => `
export default { name: 'Asks', version: '1', async run() {
  const { createHash } = process.getBuiltinModule('crypto');
  const data = new Uint8Array(2 ** 20);
  ${body}
} };`;
  const LOOP = source('for (;;) createHash("sha256").update(data).digest();');
  const WAITS = source(`const pauses = [];
for (let n = 0; n < 20; n++) {
  const before = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 50));
  pauses.push(Date.now() - before);
}
this.$emit(Math.max(...pauses));`);

  it('end at their limit of CPU time, and a run beside them has its timers', async () => {
    await world.limit({ runCpuMs: RUN_CPU_MS });
    const [first, second, waits] = await world.unharmed(async () => {
      const ids: string[] = [];
      for (const code of [LOOP, LOOP, WAITS]) ids.push((await world.attacker.deploy(code)).id);
      return Promise.all(ids.map((id) => world.run(id, {}, 60_000)));
    });
    const limit = { name: 'runCpuMs', value: RUN_CPU_MS, used: expect.any(Number) as number };
    expect([first?.error, second?.error]).toMatchObject([
      { code: 'CPU_LIMIT', limit },
      { code: 'CPU_LIMIT', limit },
    ]);
    expect(waits?.error).toBeUndefined();
    expect(waits?.events[0]).toBeLessThan(2_000);
  });
});

// fairness: A dozen runs at the same time, each of which burns all of its CPU time.
describe('many-runs-that-burn', () => {
  const world = hostile();

  it('each ends at its limit, and the neighbour is served meanwhile', async () => {
    await world.limit({ runCpuMs: 200 });
    const errors = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(
        `export default { name: 'Burn', version: '1', async run() { await null; for (;;); } };`,
      );
      const runs = await Promise.all(Array.from({ length: 12 }, () => world.run(id)));
      return runs.map((run) => run.error);
    });
    expect(errors).toHaveLength(12);
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 200 } });
      expect(error?.limit?.used).toBeGreaterThanOrEqual(200);
    }
  });
});
