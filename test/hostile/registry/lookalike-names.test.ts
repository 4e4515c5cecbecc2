// tenancy: Names that look like those of others: other letters, cases, escapes, and a key of the registry in one’s own account.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { publishCode, registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';

const world = hostile();

it('leads nobody else anywhere', async () => {
  const { attacker, neighbour } = world;
  await world.limit({ maxRegistryVersions: 100 });
  const prefix = uniquePrefix();
  await world.unharmed(async () => {
    for (const key of [
      'HTTP-request-bin',
      'http-request-bin.',
      'http-request--bin',
      'http_-request-bin~',
      '-http-bin',
      `${prefix}-`,
      'constructor',
      '__proto__',
    ]) {
      const refused = await publishCode(attacker, registryCode(key, '1.0.0'));
      expect([key, refused.status]).toEqual([key, 400]);
    }
    for (const key of ['һttp-request-bin', 'http\\u2010request-bin', 'http-request-bin\\u200b', 'a/b-c', 'a b-c']) {
      const { status } = await attacker.api('POST', '/components', { component_code: registryCode(key, '1.0.0') });
      expect([key, status]).toEqual([key, 400]);
    }
    // Within an account any key is allowed, and affects no other account.
    const own = await saveCode(attacker, registryCode('http-request-bin', '99.0.0'));
    await attacker.api('POST', `/components/${own}/publish`, {});
    const deployed = await neighbour.api('POST', '/sources', { component_key: 'http-request-bin' });
    expect([deployed.status, deployed.body.data.name]).toEqual([200, 'HTTP request bin']);
    await neighbour.api('DELETE', `/sources/${deployed.body.data.id}`);
  });
});
