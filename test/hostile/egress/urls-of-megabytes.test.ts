// limits: URLs with hosts of a million Chinese letters for webhooks and components: half a minute of the thread to read one.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const LETTERS = 1_000_000;
const DIFFERENT = 20_000;

it('are refused for their length', async () => {
  const { attacker } = world;
  const host = Array.from({ length: LETTERS }, (_, n) => String.fromCharCode(0x4e00 + (n % DIFFERENT))).join('');
  const url = `https://${host}/`;
  await world.unharmed(async () => {
    for (const [path, parameters] of [
      ['/components', { component_url: url }],
      ['/sources', { component_url: url }],
      ['/webhooks', { url }],
    ] as const) {
      const { status, text } = await attacker.api('POST', path, parameters);
      expect([path, status, text.length < 2_000]).toEqual([path, 400, true]);
      expect(text).toContain('is longer than 2048 characters');
    }
  });
});
