// limits: A list of thousands of secrets under a prop whose name has hundreds of thousands of characters, which each would take along.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SECRETS = 6_000;

it('the component is refused', async () => {
  const { attacker } = world;
  const code = (chars: number) => `export default { name: 'Long', version: '1', props: {
    ['a'.repeat(${chars})]: { type: 'string[]', secret: true }, x: { type: 'string', options() { return ['y']; } } }, run() {} };`;
  await world.unharmed(async () => {
    const { status, text } = await attacker.api('POST', '/components', { component_code: code(900_000) });
    expect([status, text.length < 10_000]).toEqual([400, true]);
    expect(text).toContain('is a name of more than 256 characters');
    const made = await attacker.api('POST', '/components', { component_code: code(256) });
    expect(made.status).toBe(200);
    const secrets = Array.from({ length: SECRETS }, (_, n) => `s${10_000 + n}`);
    const asked = await attacker.api('POST', `/components/${made.body.data.id}/configure`, {
      prop_name: 'x',
      configured_props: { ['a'.repeat(256)]: secrets },
    });
    expect(asked.status).toBe(200);
  });
});
