// egress: Webhooks whose URL is a file, a socket, another protocol, or holds a password.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const URLS = [
  'file:///etc/passwd',
  'unix:/var/run/docker.sock',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'javascript:1',
  'http://user:password@127.0.0.1/',
  'http://127.0.0.1:99999/',
  '/relative',
];

it('are refused when they are saved', async () => {
  await world.unharmed(async () => {
    for (const url of URLS) {
      const { status, body } = await world.attacker.api('POST', '/webhooks', { url });
      expect({ url, status, path: body.errors?.[0]?.path }).toEqual({ url, status: 400, path: 'url' });
    }
  });
});
