// limits: Timers that each compute for less than is noticed, of a run that has ended while another one keeps the isolate.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

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
