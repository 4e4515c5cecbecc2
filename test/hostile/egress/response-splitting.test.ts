// egress: A second answer sent along with the first, for the next request on the connection to take as its own.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const server = rawServer((socket) => socket.write(answer('true') + answer('FORGED')));
const REQUESTS = 5;

const READ = `for (let n = 0; n < ${REQUESTS}; n++) {
  const read = await fetch(event.url).then((response) => response.text(), () => 'failed');
  this.$emit({ read });
}`;

it('reaches no other request', async () => {
  const { ran, connections } = await world.unharmed(async () => {
    const before = server.connections();
    const outcome = await world.attack(READ, { event: { url: server.url } });
    return { ran: outcome, connections: server.connections() - before };
  });
  expect(ran.error).toBeUndefined();
  expect(ran.events).toHaveLength(REQUESTS);
  for (const { read } of ran.events) expect(read).toMatch(/^(true|failed)$/);
  // Each on one of its own: what came unasked closes the connection.
  expect(connections).toBe(REQUESTS);
});
