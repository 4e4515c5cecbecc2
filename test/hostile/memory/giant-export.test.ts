// bridge: A component whose description is made of 30 megabytes while it is loaded.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused with what is too large, and its process goes on', async () => {
  const { refused } = await world.unharmed(() =>
    world.attack(`
export default { name: 'Giant', version: '1', description: 'x'.repeat(30e6), run() {} };`),
  );
  expect(refused).toMatchObject({ status: 400 });
  expect(JSON.stringify(refused)).toContain('the limit maxOutlineChars is 1 048 576 characters');
});
