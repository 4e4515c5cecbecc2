// egress: Webhooks whose URL is inside: private addresses, metadata, the node’s own API and database.
import { expect, it } from 'vitest';
import { deliverOnce } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are not delivered to', async () => {
  const { port } = new URL(world.server.databaseUrl);
  const urls = [
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    `${world.server.url}/v1/users/me`,
    `http://0x7f.1:${port}/`,
  ];
  for (const url of urls) {
    const attempt = await world.unharmed(() => deliverOnce(world, url));
    expect({ url, ...attempt }).toMatchObject({
      error: expect.stringMatching(/not a public address|not reached from here/),
    });
    expect(attempt).not.toHaveProperty('status_code');
  }
});
