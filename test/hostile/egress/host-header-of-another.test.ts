// egress: A host header that names another site of the same server, one that is meant for others.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, refusedRun, requestEach, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

it('is refused by fetch', async () => {
  const own = `127.0.0.1:${server.port}`;
  const values = [['internal'], ['127.0.0.1'], ['169.254.169.254'], [''], [own, 'internal'], ['internal', own]];
  const requests = values.map((hosts): [string, object] => [
    server.url,
    { headers: hosts.map((host, index) => [index === 0 ? 'host' : 'Host', host]) },
  ]);
  const ran = await world.unharmed(() => fetchEach(world, requests));
  expect(ran.error).toMatchObject(refusedRun(/host header follows from the URL/));
  expect(ran.reached).toEqual([]);
  expect(server.received).toEqual([]);
});

it('is left out by the module http', async () => {
  const requests = [['host', 'internal'], ['HOST', 'internal', 'Host', `127.0.0.1:${server.port}`], []].map(
    (headers): [string, object] => [server.url, { headers, setHost: headers.length > 0 }],
  );
  const ran = await world.unharmed(() => requestEach(world, requests));
  expect(ran.reached).toHaveLength(requests.length);
  for (const request of server.received) {
    expect(request.match(/^host: .*/gim)).toEqual([`host: 127.0.0.1:${server.port}`]);
  }
});
