// egress: Webhooks whose URL is inside: private addresses, metadata, the node’s own API and database.
import { expect, it } from 'vitest';
import { deliverOnce } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused when they are saved, and not delivered to', async () => {
  const { port } = new URL(world.server.databaseUrl);
  for (const url of ['http://169.254.169.254/latest/', 'http://[::1]/', 'http://10.0.0.1:8080/']) {
    const { status, text } = await world.attacker.api('POST', '/webhooks', { url });
    expect({ url, status, text }).toEqual({ url, status: 400, text: expect.stringMatching(/not a public address/) });
  }
  for (const url of [`${world.server.url}/v1/users/me`, `http://0x7f.1:${port}/`]) {
    const attempt = await world.unharmed(() => deliverOnce(world, url));
    expect({ url, ...attempt }).toMatchObject({ error: expect.stringMatching(/not reached from here/) });
    expect(attempt).not.toHaveProperty('status_code');
  }
});
