// egress: Requests of `$.send.http` to addresses inside: metadata, loopback in other spellings, the node’s own API and database.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are not made', async () => {
  const { port } = new URL(world.server.databaseUrl);
  const urls = [
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    'http://10.0.0.1/',
    `${world.server.url}/v1/users/me`,
    `http://0x7f.1:${port}/`,
  ];
  const sends = await world.unharmed(() =>
    sendEach(
      world,
      urls.map((url) => ['http', { url }]),
    ),
  );
  expect(sends).toHaveLength(urls.length);
  for (const { payload, status, attempts } of sends) {
    expect({ payload, status, attempts }).toMatchObject({
      status: 'pending',
      attempts: [{ status_code: null, error: expect.stringMatching(/not a public address|not reached from here/) }],
    });
  }
});
