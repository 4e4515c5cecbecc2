// ingress: A client that asks for large answers, one after the other, and reads none of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 20;
const REQUESTS = 15;

it('costs the server what fits into buffers, and no thread', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
      for (const socket of sockets) {
        socket.pause();
        socket.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(REQUESTS));
      }
      await sleep(500);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    }),
  );
});
