// secrets: Secrets that look like pieces of JSON or of escapes, so that taking them out would break or forge events.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const values = ['","admin":true,"', '123456', 'true,false', 'nabcdef', '0041bc', '\\"\\"\\"', '{"data":['];

it('every event is the JSON that it was, but for strings that held one', async () => {
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Syntax', version: '1', props: { values: { type: 'string[]', secret: true } }, run() {
        this.$emit({ a: 'x', admin: true, b: 'y', n: 1234567, list: [true, false], escaped: '\\nabcdef', ctrl: '\\u0000041bc' });
        this.$emit({ data: [], quotes: '""""""', found: this.values });
      } };`,
      { props: { values } },
    ),
  );
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([
    { a: 'x', admin: true, b: 'y', n: 1_234_567, list: [true, false], escaped: '\nabcdef', ctrl: '\u0000041bc' },
    { data: [], quotes: '""""""', found: values.map((_, i) => `[secret:values.${i}]`) },
  ]);
});
