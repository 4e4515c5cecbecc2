// egress: A host header that names another site of the same server, one that is meant for others.
import { expect, it } from 'vitest';
import { fetchEach, guarded, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const guard = guarded();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

it('is refused', async () => {
  const requests = ['internal', '127.0.0.1', '169.254.169.254', ''].map((host): [string, object] => [
    server.url,
    { headers: { host } },
  ]);
  const ran = await world.unharmed(() => fetchEach(world, requests));
  expect(ran.error).toMatchObject(refusedRun(/host header follows from the URL/));
  expect(ran.reached).toEqual([]);
});

it('does not get in twice', async () => {
  const host = `127.0.0.1:${server.port}`;
  const twice = guard.fetch(server.url, {
    headers: [
      ['host', host],
      ['Host', 'internal'],
    ],
  });
  expect(await guard.unharmed(() => twice)).toMatchObject({ ok: false });
  expect(
    await guard.fetch(server.url, {
      headers: [
        ['host', host],
        ['HOST', host],
      ],
    }),
  ).toMatchObject({ ok: true });
  expect(server.received).toHaveLength(1);
  expect(server.received[0]?.match(/host:/gi)).toHaveLength(1);
});
