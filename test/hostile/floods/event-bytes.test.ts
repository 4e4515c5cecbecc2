// limits: Events, each within its limit, until they fill the database.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('their bytes count together, and the run ends at its limit', async () => {
  await world.limit({ maxRunOutputBytes: 65_536, maxEventBytes: 32_768 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; i < 500; i++) try { this.$emit({ i, text: 'ü'.repeat(10000) }) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
  expect(ran.events).toHaveLength(3);
});
