// ingress: Requests without end on one connection, none of which waits for an answer.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, open, whenClosed, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const REQUEST = 'GET /e/x HTTP/1.1\r\nhost: x\r\n\r\n';
/** A million requests, if they were taken. */
const MAX_CHUNKS = 250;
const CHUNK = REQUEST.repeat(4_000);

it('a few are answered in order; with many the connection is closed', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const few = await exchange(server, `${REQUEST.repeat(15)}GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(few.statuses).toEqual([...Array.from({ length: 15 }, () => 404), 200]);
      const socket = await open(server);
      const closed = whenClosed(socket);
      let chunks = 0;
      while (chunks++ < MAX_CHUNKS && socket.writable) {
        const drained = new Promise<void>((resolve) => void socket.once('drain', resolve));
        if (!socket.write(CHUNK)) await Promise.race([drained, closed]);
      }
      await closed;
      expect(chunks).toBeLessThan(MAX_CHUNKS);
    }),
  );
});
