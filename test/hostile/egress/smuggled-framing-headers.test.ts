// egress: Headers that say where a request ends and what the connection does, for a proxy on the way to read otherwise.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, requestEach, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
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
const BODY = '0\r\n\r\nGET /second HTTP/1.1\r\nhost: internal\r\n\r\n';

it('never leave: the node frames the request itself', async () => {
  const init = { method: 'POST', headers: [...SMUGGLED, ['x-kept', '1']], body: BODY };
  for (const attackEach of [fetchEach, requestEach]) {
    const ran = await world.unharmed(() => attackEach(world, [[server.url, init]]));
    expect(ran.reached).toMatchObject([{ status: 200 }]);
  }
  for (const sent of server.received) {
    const head = sent.slice(0, sent.indexOf('\r\n\r\n'));
    const headers = head.toLowerCase().split('\r\n').slice(1);
    expect(headers.filter((line) => !line.startsWith('content-type: ')).toSorted()).toEqual([
      'accept-encoding: gzip, deflate, br',
      'accept: */*',
      'connection: keep-alive',
      `content-length: ${BODY.length}`,
      `host: 127.0.0.1:${server.port}`,
      expect.stringMatching(/^user-agent: headwater/),
      'x-kept: 1',
    ]);
  }
});
