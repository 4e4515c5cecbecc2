// bridge: Times and ids of emitted events that are no time and no id, or the largest number there is.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are taken as they are or as none, or refused, and the run commits', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
let taken = 0;
for (const value of [1e300, -1e300, 8.64e15 + 1, Number.MAX_VALUE, 5e-324, -0, NaN, Infinity, 2 ** 53, {}, [], null, true, '9'.repeat(400)])
  for (const options of [{ ts: value }, { id: value }, { summary: value }]) try { this.$emit('x', options); taken += 1; } catch {}
this.$emit(taken > 20);`),
  );
  expect(ran.error).toBeUndefined();
  expect(ran.events).toContain(true);
});
