// egress: A server that redirects to files, data and other protocols.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket, request) => {
  const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
  socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '301 Moved'));
});

it('is not followed there', async () => {
  const targets = [
    'file:///etc/passwd',
    'data:text/plain,hi',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1/',
    'ws://127.0.0.1/',
  ];
  const urls = [...targets, 'javascript:1', 'unix:/x'].map((target) => `${server.url}/${encodeURIComponent(target)}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(/redirected to a \w+: URL/));
  expect(ran.reached).toEqual([]);
});
