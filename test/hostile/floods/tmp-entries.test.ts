// limits: Empty files and directories below /tmp, without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends at its limit, as on a full disk', async () => {
  await world.limit({ maxTmpEntries: 50 });
  const ran = await world.unharmed(() =>
    world.attack(
      `import fs from 'fs';
      export default { name: 'x', version: '1', run() { for (let d = '/tmp/d'; ; d += '/d') fs.mkdirSync(d) } };`,
    ),
  );
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxTmpEntries', value: 50, used: 51 } });
});
