// egress: Methods and paths with spaces and line breaks, which would be a request line of the attacker's own.
import { expect, it } from 'vitest';
import { guarded, rawServer, response } from '../../support/hostile-egress.ts';

const guard = guarded();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

it('in the method is refused', async () => {
  const methods = ['GET / HTTP/1.1\r\nx: ', 'GET /', 'G\u0000ET', '', 'GÉT', 'CONNECT', 'connect', 'TRACE', 'TRACK'];
  for (const method of methods) {
    const outcome = await guard.unharmed(() => guard.fetch(server.url, { method }));
    expect({ method, ...outcome }).toMatchObject({ ok: false, message: expect.stringMatching(/not a method/) });
  }
  expect(server.received).toEqual([]);
});

it('in the path is encoded', async () => {
  const paths = [
    '/a b HTTP/1.1',
    '/a\r\nx-injected: 1',
    '/a\tb',
    '/a?b c\r\n\r\nGET /two HTTP/1.1',
    '/\u0000',
    '/é',
    '/a#b c',
  ];
  for (const path of paths) await guard.unharmed(() => guard.fetch(server.url + path));
  expect(server.received).toHaveLength(paths.length);
  for (const request of server.received) {
    expect(request).toMatch(/^GET [\x21-\x7e]+ HTTP\/1\.1\r\n/);
    expect(request).not.toMatch(/^x-injected/im);
    expect(request.match(/HTTP\/1\.1\r\n/g)).toHaveLength(1);
  }
});
