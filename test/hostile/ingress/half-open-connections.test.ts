// ingress: Connections that are opened and left alone.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 1_000;

it('cost a socket each, and new ones are still accepted', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
      expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(CONNECTIONS);
      expect((await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    }),
  );
});
