// ingress: Hundreds of requests at once with API keys that are none, each of which has to be looked up, and to paths that are none.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REQUESTS = 300;

it('are refused, and keep nobody waiting', async () => {
  const ask = (path: string) =>
    Array.from({ length: REQUESTS }, async (_, nth) => {
      const headers = { authorization: `Bearer hw_${crypto.randomUUID()}_${nth}` };
      return (await fetch(`${world.server.url}${path}`, { headers })).status;
    });
  await world.unharmed(async () => {
    const all = Promise.all([...ask('/v1/users/me'), ...ask('/nothing')]);
    expect((await world.neighbour.api('GET', '/users/me')).status).toBe(200);
    expect(new Set(await all)).toEqual(new Set([401, 404]));
  });
});
