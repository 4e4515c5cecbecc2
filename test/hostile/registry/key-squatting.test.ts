// tenancy: The neighbour's key in the registry, his prefix, that of the server's own components and that of an app, taken by another.
import { expect, it } from 'vitest';
import { ADMIN_KEY, callApi } from '../../support/server.ts';
import { hostile } from '../../support/hostile.ts';
import { publishCode, registryCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';

const world = hostile();

it('is refused: a key, a prefix and the name of an app have one owner', async () => {
  const { attacker, neighbour } = world;
  const prefix = uniquePrefix();
  await world.limit({ maxRegistryVersions: 100 });
  const limits = { maxRegistryVersions: 100 };
  await callApi(`${world.server.url}/v1/accounts/${neighbour.id}/limits`, 'PUT', limits, ADMIN_KEY);
  expect((await publishCode(neighbour, registryCode(`${prefix}-one`, '1.0.0'))).status).toBe(200);
  await world.unharmed(async () => {
    for (const [key, version] of [
      [`${prefix}-one`, '1.0.0'],
      [`${prefix}-one`, '9.0.0'],
      [`${prefix}-two`, '1.0.0'],
      ['http-request-bin', '99.0.0'],
      ['http-better-requests', '1.0.0'],
      ['rss-new-items-free', '1.0.0'],
      ['slack-send-message', '1.0.0'],
      ['github-star', '1.0.0'],
    ] as const) {
      const { status } = await publishCode(attacker, registryCode(key, version));
      expect([key, version, status]).toEqual([key, version, 409]);
    }
    const withApp = "props: { github: { type: 'app', app: 'github' } },";
    expect((await publishCode(attacker, registryCode('slack-send-all', '1.0.0', withApp))).status).toBe(400);
    expect((await publishCode(attacker, registryCode('http-request-bin', '99.0.0'))).status).toBe(409);
  });
  const { body } = await attacker.api('GET', '/components/registry/http-request-bin');
  expect(body.data.version).not.toBe('99.0.0');
});
