// egress: A second answer sent along with the first, for the next request on the connection to take as its own.
import { expect, it } from 'vitest';
import { guarded, rawServer } from '../../support/hostile-egress.ts';

const guard = guarded();
const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const server = rawServer((socket) => socket.write(answer('true') + answer('FORGED')));

it('reaches no other request', async () => {
  for (let i = 0; i < 5; i++) {
    const outcome = await guard.unharmed(() => guard.fetch(server.url));
    expect(outcome.ok ? Buffer.from(outcome.body).toString() : 'failed').toMatch(/^(true|failed)$/);
  }
  expect(server.connections()).toBe(5);
});
