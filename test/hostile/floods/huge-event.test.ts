// limits: One event of ten megabytes.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused where it was emitted, with its size', async () => {
  await world.limit({ maxEventBytes: 10_000 });
  const ran = await world.unharmed(() => world.attack(`this.$emit('x'.repeat(10e6))`));
  expect(ran.error).toMatchObject({
    code: 'OUTPUT_LIMIT',
    limit: { name: 'maxEventBytes', value: 10_000, used: 10_000_002 },
  });
  expect(ran.events).toEqual([]);
});
