// ingress: Connections that are opened and left alone.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 1_000;

it('are held as long as they are few, and new ones are accepted', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
      for (const socket of sockets) socket.resume();
      expect((await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
      const held = () => sockets.filter((socket) => !socket.closed).length;
      await eventually(() => held() <= LIMITS.maxSilentConnections);
      // What other clients of this address have open counts as well.
      expect(held()).toBeGreaterThan(LIMITS.maxSilentConnections / 2);
      for (const socket of sockets) socket.destroy();
    }),
  );
});
