// limits: Files of megabytes below /tmp, without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends at its limit, as on a full disk', async () => {
  await world.limit({ maxTmpBytes: 1_000_000 });
  const ran = await world.unharmed(() =>
    world.attack(
      `import fs from 'fs';
      export default { name: 'x', version: '1', run() { for (let i = 0; ; i++) fs.writeFileSync('/tmp/f' + i, 'x'.repeat(4e5)) } };`,
    ),
  );
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTmpBytes', value: 1_000_000, used: 1_200_000 },
  });
});
