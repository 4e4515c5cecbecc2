// egress: URLs whose user name looks like the host, for checks that read up to the wrong character.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')));

it('are refused, and nothing is sent', async () => {
  const urls = [
    `http://example.com@127.0.0.1:${server.port}/`,
    `http://user:password@127.0.0.1:${server.port}/`,
    `http://example.com%2f@127.0.0.1:${server.port}/`,
    `http://127.0.0.1:${server.port}\\@10.0.0.1/`,
    'http://example.com#@10.0.0.1:x/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  // A backslash is a slash to a URL: that one names the allowed host, and goes there.
  expect(ran.reached.map(({ url }) => url).filter((url) => !url.includes('\\'))).toEqual([]);
  expect(server.received.join()).not.toMatch(/authorization/i);
});
