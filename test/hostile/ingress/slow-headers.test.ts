// ingress: Slowloris: connections that send a header line now and then, and never the last one.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 300;
const ROUNDS = 6;

it('holds its own connections and nobody else’s', async () => {
  const { server } = world;
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const socket of sockets) socket.write('POST /e/x HTTP/1.1\r\nhost: x\r\n');
      for (let round = 0; round < ROUNDS; round++) {
        for (const socket of sockets) if (socket.writable) socket.write(`x-slow-${round}: 1\r\n`);
        await sleep(100);
      }
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    }),
  );
  for (const socket of sockets) socket.destroy();
});
