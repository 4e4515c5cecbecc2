// ingress: Hundreds of links of executions and of OAuth flows at once, which nobody has made and which need no key.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REQUESTS = 300;
const PATHS = [
  (id: string) => `/resume/ex_${id}/1-1-${'x'.repeat(32)}`,
  (id: string) => `/cancel/ex_${id}/1-1-${'x'.repeat(32)}`,
  (state: string) => `/oauth/callback?code=1&state=${state}`,
  () => `/resume/%00/1-1-${'x'.repeat(32)}`,
  () => `/cancel/%00/1-1-${'x'.repeat(32)}`,
];

it('are none, and keep nobody waiting', async () => {
  const ask = async (path: string) => (await fetch(world.server.url + path)).status;
  await world.unharmed(async () => {
    const all = Array.from({ length: REQUESTS }, (_, nth) => {
      const random = randomBytes(32).toString('base64url');
      return ask(PATHS[nth % PATHS.length]?.(random) ?? '');
    });
    expect((await world.neighbour.api('GET', '/users/me')).status).toBe(200);
    for (const status of await Promise.all(all)) expect([400, 404]).toContain(status);
  });
});
