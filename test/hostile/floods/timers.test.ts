import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// limits: A thousand intervals of a millisecond, each of which does next to nothing.
describe('interval-storm', () => {
  const world = hostile({ ownAccounts: true });

  it('firing them counts as CPU time of the run', async () => {
    await world.limit({ runCpuMs: 300, maxTimersPerRun: 1_000 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; i < 1000; i++) setInterval(() => {}, 1); await new Promise(() => {})`),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
  });
});

// fairness: Fifteen sources with a hundred timers each, all with an interval of one second: more
// ticks than a node can fire.
describe('timers-of-many-sources', () => {
  const world = hostile({ ownAccounts: true });

  const TIMERS = Array.from(
    { length: 100 },
    (_, i) => `t${i}: { type: '$.interface.timer', default: { intervalSeconds: 1 } }`,
  );
  const CODE = `export default { name: 'Flood', version: '1', props: { ${TIMERS.join(', ')} }, run() {} };`;
  const SOURCES = 15;
  const WATCHED_MS = longRun(4_000, 8_000);
  /**
   * With all ticks in the order of their time it was three seconds and more, and grew with each
   * source.
   */
  const SOON_MS = 2_500;

  it("come after the neighbour's ticks", async () => {
    const { attacker } = world;
    const sources = [];
    for (let made = 0; made < SOURCES; made++) sources.push(await attacker.deploy(CODE));
    const pauseMs = await world.unharmed(() => longestPauseMs(world, () => sleep(WATCHED_MS)));
    for (const { id } of sources) expect((await attacker.api('DELETE', `/sources/${id}`)).status).toBeLessThan(300);
    expect(pauseMs).toBeLessThan(SOON_MS);
  });
});

// bridge: Timers that are set and cleared without end, so that none is ever open.
describe('timers-set-and-cleared', () => {
  const world = hostile({ ownAccounts: true });

  it('one stretch of code can send a bounded number, and the loop ends at its CPU limit', async () => {
    await world.limit({ runCpuMs: 500, maxTimersPerRun: 10 });
    const ran = await world.unharmed(() =>
      world.attack(`for (;;) try { clearTimeout(setTimeout(() => {}, 1000)) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
  });
});

// limits: Timers without end.
describe('timers', () => {
  const world = hostile({ ownAccounts: true });

  it('the run ends at its limit of open timers', async () => {
    await world.limit({ maxTimersPerRun: 100 });
    const ran = await world.unharmed(() => world.attack(`for (;;) setTimeout(() => {}, 60000)`));
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxTimersPerRun', value: 100, used: 101 },
    });
  });
});

// isolate: Listeners added to one EventTarget without end.
describe('listeners', () => {
  const world = hostile({ ownAccounts: true });

  it('they stay in the isolate, and end at the limit of CPU time', async () => {
    await world.limit({ runCpuMs: 1_000, memoryMb: 64 });
    const ran = await world.unharmed(() =>
      world.attack(
        `const target = new EventTarget(); for (let i = 0; ; i++) target.addEventListener('t' + i, () => i)`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_000 } });
  });
});

// isolate: Messages posted to a port without end, each of which posts two more.
describe('messages', () => {
  const world = hostile({ ownAccounts: true });

  it('they stay in the isolate, and the run ends at its limit of open timers', async () => {
    await world.limit({ maxTimersPerRun: 100 });
    const ran = await world.unharmed(() =>
      world.attack(`
      const { port1, port2 } = new MessageChannel();
      port2.onmessage = () => { port1.postMessage('x'); port1.postMessage('y') };
      port1.postMessage('x'); await new Promise(() => {})`),
    );
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxTimersPerRun', value: 100, used: 101 },
    });
  });
});
