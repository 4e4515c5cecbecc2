// secrets: Thousands of secrets that begin alike, and megabytes of text that nearly matches all of them everywhere.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const keys = Array.from({ length: 3_000 }, (_, i) => `sk_live_${i + 100_000}`);

it('the search takes bounded time, and what it gives up on is withheld', async () => {
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Alike', version: '1', props: { keys: { type: 'string[]', secret: true } }, run() {
        const text = 'sk_live_'.repeat(120_000);
        this.$emit({ text, key: this.keys[7] });
        this.$emit(Array.from({ length: 9_000 }, (_, i) => text.slice(0, 100)));
        for (let i = 0; i < 50; i++) console.log(text);
      } };`,
      { props: { keys } },
    ),
  );
  expect(ran.error).toBeUndefined();
  const withheld = expect.stringMatching(/^\[secrets: .* withheld/);
  expect(ran.events).toEqual([withheld, withheld]);
  expect(ran.logs).toHaveLength(50);
  expect(JSON.stringify(ran.logs)).not.toContain(keys[7]);
});
