// egress: Line breaks in header names and values, which would begin a header or a request of the attacker's own.
import { expect, it } from 'vitest';
import { fetchEach, guarded, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const guard = guarded();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

const HEADERS: [string, string][] = [
  ['x-a', 'b\r\nx-injected: 1'],
  ['x-a', 'b\nx-injected: 1'],
  ['x-a', 'b\rx-injected: 1'],
  ['x-a', 'b\r\n\r\nGET /x-injected HTTP/1.1\r\nhost: internal\r\n\r\n'],
  ['x-a\r\nx-injected', '1'],
  ['x-a: 1\nx-injected', '1'],
  ['x-a', 'b\0'],
  ['x-a', '\u560d\u560ax-injected: 1'],
  ['', 'x-injected'],
  [' x-injected', '1'],
  ['x-injected ', '1'],
];

it('are refused by the component’s own fetch', async () => {
  const ran = await world.unharmed(() =>
    fetchEach(
      world,
      HEADERS.map((header) => [server.url, { headers: [header] }]),
    ),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  expect(ran.reached).toEqual([]);
  expect(server.received).toEqual([]);
});

it('are refused by the node, should the component get past that', async () => {
  for (const header of HEADERS) {
    const outcome = await guard.unharmed(() => guard.fetch(server.url, { headers: [header] }));
    expect({ header, ...outcome }).toMatchObject({ ok: false, message: expect.stringMatching(/header/) });
  }
  expect(server.received).toEqual([]);
});
