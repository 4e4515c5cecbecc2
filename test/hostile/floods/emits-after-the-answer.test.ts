// limits: Events from promises and timers that nobody waits for, after the run has ended.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they count for nothing', async () => {
  await world.limit({ runCpuMs: 1_000 });
  const ran = await world.unharmed(() =>
    world.attack(`
      for (let i = 0; i < 100; i++) { setTimeout(() => this.$emit('timer'), 1); setImmediate(() => this.$emit('immediate')) }
      Promise.resolve().then(() => { for (let i = 0; i < 100; i++) setTimeout(() => this.$emit('later'), 5) });
      throw new Error('done')`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'done' });
  expect(ran.events).toEqual([]);
});
