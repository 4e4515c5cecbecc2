// limits: URLs with hosts of five thousand Chinese letters for webhooks and components, again and again: 40 ms of the thread to read one.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
/** The most of which the parser of URLs makes the letters of a host's name. */
const LETTERS = 5_400;
const ASKED = 20;

it('are refused for their length', async () => {
  const { attacker } = world;
  const host = Array.from({ length: LETTERS }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');
  const url = `https://${host}/`;
  await world.unharmed(async () => {
    for (let n = 0; n < ASKED; n++)
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
