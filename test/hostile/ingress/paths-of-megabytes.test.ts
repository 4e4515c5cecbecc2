// limits: Values that cannot be stored under keys of millions of dots, and steps with props of thousands of names.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused in short answers, before they are looked at one by one', async () => {
  const { attacker } = world;
  const dots = { component_id: 'x', configured_props: { ['.'.repeat(3_000_000)]: '\u0000' } };
  const props = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`name${n}`, 0]));
  const steps = Array.from({ length: 10 }, (_, n) => ({ namespace: `s${n}`, component_id: 'x', props }));
  await world.unharmed(async () => {
    for (const [path, parameters, said] of [
      ['/sources', dots, 'NUL'],
      ['/workflows', { steps }, 'steps.0.props has more than 2000 members'],
    ] as const) {
      const { status, text } = await attacker.api('POST', path, parameters);
      expect([status, text.length < 10_000]).toEqual([400, true]);
      expect(text).toContain(said);
    }
  });
});
