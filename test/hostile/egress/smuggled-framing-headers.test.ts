// egress: Headers that say where a request ends and what the connection does, for a proxy on the way to read otherwise.
import { expect, it } from 'vitest';
import { guarded, rawServer, response } from '../../support/hostile-egress.ts';

const guard = guarded();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

const SMUGGLED: [string, string][] = [
  ['transfer-encoding', 'chunked'],
  ['Transfer-Encoding', 'xchunked'],
  ['content-length', '0'],
  ['Content-Length', '5'],
  ['content-length', '0, 5'],
  ['connection', 'close, x-kept'],
  ['upgrade', 'websocket'],
  ['expect', '100-continue'],
  ['te', 'trailers'],
  ['trailer', 'x-late'],
  ['keep-alive', 'timeout=9999'],
  ['http2-settings', 'AAMAAABkAAQAAP__'],
  ['proxy-connection', 'keep-alive'],
];

it('never leave: the node frames the request itself', async () => {
  const body = Buffer.from('0\r\n\r\nGET /second HTTP/1.1\r\nhost: internal\r\n\r\n');
  const headers: [string, string][] = [...SMUGGLED, ['x-kept', '1']];
  expect(await guard.unharmed(() => guard.fetch(server.url, { method: 'POST', headers, body }))).toMatchObject({
    ok: true,
  });
  const [sent = ''] = server.received;
  const head = sent.slice(0, sent.indexOf('\r\n\r\n')).toLowerCase().split('\r\n').slice(1).toSorted();
  expect(head).toEqual([
    'accept-encoding: gzip, deflate, br',
    'accept: */*',
    'connection: keep-alive',
    `content-length: ${body.length}`,
    `host: 127.0.0.1:${server.port}`,
    expect.stringMatching(/^user-agent: headwater/),
    'x-kept: 1',
  ]);
});
