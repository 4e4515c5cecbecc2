// limits: Events without end; the error at the limit is caught and the run goes on as if nothing was.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('no event beyond the limit is taken, and the run fails with the limit', async () => {
  await world.limit({ maxEmitsPerRun: 20 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; i < 30000; i++) try { this.$emit(i) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxEmitsPerRun', value: 20, used: 21 } });
  expect(ran.events).toHaveLength(20);
});
