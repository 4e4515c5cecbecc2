// tenancy: The operator's routes with the key of an account: making accounts, listing them, raising one's own limits.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused, and change nothing', async () => {
  const { attacker, neighbour, server } = world;
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const routes = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/accounts'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.slice('/v1'.length)]),
    );
  expect(routes).toContainEqual(['PUT', '/accounts/{id}/limits']);
  const before = (await attacker.api('GET', '/users/me/limits')).text;
  await world.unharmed(async () => {
    for (const [method = '', path = ''] of routes) {
      for (const id of [attacker.id, neighbour.id]) {
        const body = method === 'GET' ? undefined : { name: 'Mine', runCpuMs: 300_000 };
        const answer = await attacker.api(method, path.replace('{id}', id), body);
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect(answer.text).not.toContain('api_key');
      }
    }
  });
  expect((await attacker.api('GET', '/users/me/limits')).text).toBe(before);
});
