// limits: Reads of the store without end, each a query.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends at its limit of reads', async () => {
  await world.limit({ maxDbReadsPerRun: 50 });
  const ran = await world.unharmed(() => world.attack(`for (let i = 0; ; i++) this.db.get('key ' + i)`));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxDbReadsPerRun', value: 50, used: 51 } });
});
