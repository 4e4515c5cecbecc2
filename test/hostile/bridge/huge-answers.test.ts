// bridge: An answer of megabytes to a request, taken as text: it crosses at once and is handed over, not copied.
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CHARS = 4_000_000;
const body = Buffer.from('ö'.repeat(CHARS));
const server = rawServer((socket) => socket.end(response(`content-length: ${body.length}\r\n`, body)));

it('does not hold up the others', async () => {
  const read = 'const text = await (await fetch(event.url)).text(); this.$emit([text.length, text.at(-1)]);';
  const ran = await world.unharmed(() => world.attack(read, { event: { url: server.url } }));
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([[CHARS, 'ö']]);
});
