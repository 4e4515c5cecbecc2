// limits: Many answers of the full size at once, none of which ever ends: together more than a node has for one account.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BYTES = 12 * 1024 * 1024;
const server = rawServer((socket) => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BYTES}\r\n\r\n`);
  socket.write(Buffer.alloc(BYTES - 1));
});

it('are ended where they would hold more than that', async () => {
  await world.limit({ fetchTimeoutMs: 8_000 });
  const hold = `
const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => fetch(event.url)));
const messages = outcomes.map((outcome) => outcome.reason.message);
this.$emit(messages);
throw outcomes.find((outcome) => /held at once/.test(outcome.reason.message))?.reason;`;
  const ran = await world.unharmed(() => world.attack(hold, { event: { url: server.url } }));
  expect(ran.error).toMatchObject({
    code: 'COMPONENT_ERROR',
    message: expect.stringMatching(/too many bytes of requests and responses are held at once/),
  });
  await expect.poll(server.open).toBe(0);
});
