// bridge: One small value for the store, set without end from a loop that never yields.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the loop ends at its CPU time, and what waits for it is bounded', async () => {
  await world.limit({ runCpuMs: 500 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; ; i++) try { this.db.set('k', i % 10) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
});
