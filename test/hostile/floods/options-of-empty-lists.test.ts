// limits: Answers of `options` whose context is hundreds of thousands of empty lists: a quarter of a second to read each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const ASKED = 8;

const CODE = `export default { name: 'Lists', version: '1', props: { x: { type: 'string', options() {
  return { options: [], context: Array.from({ length: 340_000 }, () => []) }; } } }, run() {} };`;

it('are refused unread', async () => {
  const { attacker } = world;
  const { body } = await attacker.api('POST', '/components', { component_code: CODE });
  await world.unharmed(async () => {
    const answers = await Promise.all(
      Array.from({ length: ASKED }, () =>
        attacker.api('POST', `/components/${body.data.id}/configure`, { prop_name: 'x', configured_props: {} }),
      ),
    );
    for (const { text } of answers) expect(text).toContain("The options of 'x' could not be read");
  });
});
