// ingress: /healthz, which needs no key, waits for no turn and asks the database, asked for by hundreds at once, again and again.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CLIENTS = 100;
const TIMES = 20;

it('each is told that the server is well, and the neighbour is served', async () => {
  const { server } = world;
  await world.unharmed(async () => {
    const ask = async () => {
      for (let time = 0; time < TIMES; time++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    };
    await Promise.all(Array.from({ length: CLIENTS }, ask));
  });
});
