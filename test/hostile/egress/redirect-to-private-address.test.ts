// egress: A public server that redirects to addresses which are not.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket, request) => {
  const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
  socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '302 Found'));
});

it('is not followed there', async () => {
  const targets = [
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    '//192.168.0.1/',
    'http:0x0/',
  ];
  const urls = targets.map((target) => `${server.url}/${encodeURIComponent(target)}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  // The last one is relative, and so a loop.
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchRedirects', value: 10, used: 11 },
  });
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages.slice(0, -1)) expect(message).toMatch(NOT_PUBLIC);
});
