// ingress: A thousand connections with the beginning of a request on each, all closed in the same moment.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, whenClosed, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 1_000;

it('are closed a few at a time, and others are served in between', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
      for (const socket of sockets) socket.resume().write('POST /e/');
      expect((await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
      for (const socket of sockets) socket.end();
      await Promise.all(sockets.map(whenClosed));
    }),
  );
});
