// limits: A million timers, each refusal of which is caught, left open by run after run.
import { expect, it } from 'vitest';
import { expectNothingKept } from '../../support/hostile-guest.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { bundle, sandboxForFile } from '../../support/sandbox-kit.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
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

it('each run gets what it may have open, whatever earlier ones left', async () => {
  await world.limit({ maxTimersPerRun: 500, runCpuMs: 300_000, timerRunWallMs: 600_000 });
  const runs = await world.unharmed(() =>
    withinMemory(world.server, async () => {
      const { id } = await world.attacker.deploy(TIMERS);
      const ran = [];
      for (const asked of [longRun(200_000, 1e6), 1_000, 1_000]) ran.push(await world.run(id, { asked }, 200_000));
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
      // On a full machine an isolate may count as stuck with the leftovers of an earlier run. Then
      // the next run is innocent, and is repeated.
      do ran = await sandbox.run(component, { ...options, event: { asked: 50_000 } });
      while (!ran.outcome.ok && ran.outcome.innocent);
      expect([ran.outcome, ran.host.data()]).toEqual([expect.objectContaining({ ok: true }), [[500, 'LimitError']]]);
    }),
  );
});
