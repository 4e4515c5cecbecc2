// egress: A server that redirects to the API of the node and to its database.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket, request) => {
  const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
  socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '307 Temporary Redirect'));
});

it('is not followed there', async () => {
  const database = new URL(world.server.databaseUrl);
  const targets = [`${world.server.url}/healthz`, `http://127.0.0.3:${database.port}/`];
  const urls = targets.map((target) => `${server.url}/${encodeURIComponent(target)}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(/not reached from here/));
  expect(ran.reached).toEqual([]);
});
