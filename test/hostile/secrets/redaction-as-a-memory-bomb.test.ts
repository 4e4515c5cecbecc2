// secrets: A secret of six characters in a prop with a long name, repeated: each mark is many times what it replaces.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const name = `a${'_long'.repeat(48)}_name`;

it('a text that would grow beyond bounds is withheld', async () => {
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Bomb', version: '1', props: { ${name}: { type: 'string', secret: true } }, run() {
        const text = (this.${name} + '.').repeat(140_000);
        for (let i = 0; i < 4; i++) this.$emit({ text });
        this.$emit({ once: this.${name} });
      } };`,
      { props: { [name]: 'zzzzzz' } },
    ),
  );
  expect(ran.error).toBeUndefined();
  expect(ran.events.slice(0, 4)).toEqual(Array(4).fill(expect.stringMatching(/^\[secrets: .* withheld/)));
  expect(ran.events[4].once).toMatch(/^\[secret:a_long_long.{40,60}…\]$/);
  const [row] = await world.sql`select sum(length(data))::int as chars from events where emitter_id = ${ran.sourceId}`;
  expect(row?.['chars']).toBeLessThan(1_000);
});
