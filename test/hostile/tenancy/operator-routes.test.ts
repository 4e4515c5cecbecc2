// tenancy: The operator's routes with the key of an account: making accounts, raising one's own limits, changing apps.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused, and change nothing', async () => {
  const { attacker, neighbour, server } = world;
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: object[] }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.length > 0 && security.every((scheme) => 'adminKey' in scheme))
      .map(([method]) => [method.toUpperCase(), path.slice('/v1'.length)]),
  );
  expect(routes).toContainEqual(['POST', '/accounts']);
  expect(routes).toContainEqual(['PUT', '/accounts/{id}/limits']);
  expect(routes).toContainEqual(['PUT', '/apps/{id}/oauth_client']);
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
