// egress: An S3 server at an address inside: told at once where the address says it, and at each attempt where a name leads there.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')), '0.0.0.0');

const setServer = (endpoint: string) => {
  const keys = { access_key_id: 'AKIA', secret_access_key: 'a-secret-of-the-attacker' };
  return world.attacker.api('PUT', '/sends/s3', { endpoint, region: 'us-east-1', ...keys });
};

it('is not reached', async () => {
  const { refused, sends } = await world.unharmed(async () => {
    const answers = [];
    for (const host of ['169.254.169.254', '10.0.0.1', '[::1]', '0x7fc80001']) {
      answers.push(await setServer(`http://${host}:${server.port}`));
    }
    const name = await nameWith({ addresses: [PRIVATE_LOOPBACK] });
    expect((await setServer(`http://${name}:${server.port}`)).status).toBe(200);
    return { refused: answers, sends: await sendEach(world, [['s3', { bucket: 'bucket', payload: { a: 1 } }]]) };
  });
  for (const { status, text } of refused)
    expect([status, text]).toEqual([400, expect.stringMatching(/public address/)]);
  expect(sends).toMatchObject([{ status: 'pending', attempts: [{ error: expect.stringMatching(/public address/) }] }]);
  expect(server.connections()).toBe(0);
});
