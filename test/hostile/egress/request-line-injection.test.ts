// egress: Methods and paths with spaces and line breaks, which would be a request line of the attacker's own.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, requestEach, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
const METHODS = ['GET / HTTP/1.1\r\nx: ', 'GET /', 'G\u0000ET', '', 'GÉT', 'CONNECT', 'connect', 'TRACE', 'TRACK'];
const PATHS = [
  '/a b HTTP/1.1',
  '/a\r\nx-injected: 1',
  '/a\tb',
  '/a?b c\r\n\r\nGET /two HTTP/1.1',
  '/\u0000',
  '/é',
  '/a#b c',
];

it('in the method is refused', async () => {
  for (const attackEach of [fetchEach, requestEach]) {
    const requests = METHODS.map((method): [string, object] => [server.url, { method }]);
    const ran = await world.unharmed(() => attackEach(world, requests));
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
    expect(ran.reached).toEqual([]);
  }
  expect(server.received).toEqual([]);
});

it('in the path is encoded by fetch', async () => {
  const ran = await world.unharmed(() =>
    fetchEach(
      world,
      PATHS.map((path) => server.url + path),
    ),
  );
  expect(ran.reached).toHaveLength(PATHS.length);
  expectOneLineEach();
});

it('in the path is refused or encoded by the module http', async () => {
  const requests = PATHS.map((path): [string, object] => [server.url, { path }]);
  const ran = await world.unharmed(() => requestEach(world, requests));
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringMatching(/unescaped characters/) });
  expect(ran.reached).toHaveLength(1);
  expectOneLineEach();
});

function expectOneLineEach(): void {
  for (const request of server.received) {
    expect(request).toMatch(/^GET [\x21-\x7e]+ HTTP\/1\.1\r\n/);
    expect(request).not.toMatch(/^x-injected/im);
    expect(request.match(/HTTP\/1\.1\r\n/g)).toHaveLength(1);
  }
}
