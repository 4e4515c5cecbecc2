// egress: A component whose URL is the server's own API, by all names of this machine.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the server does not fetch from itself, although loopback is allowed', async () => {
  const { port } = new URL(world.server.url);
  const hosts = ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1', '127.0.0.2', '[::ffff:127.0.0.1]'];
  await world.unharmed(async () => {
    for (const host of hosts) {
      for (const path of ['openapi.json', 'healthz', 'v1/users/me?x=.mjs']) {
        const url = `http://${host}:${port}/${path}`;
        const saved = await world.attacker.api('POST', '/components', { component_url: url });
        expect([url, saved.status]).toEqual([url, 400]);
        expect(saved.text).not.toContain('openapi"');
      }
    }
  });
});
