import { describe, expect, it } from 'vitest';
import { fetchEach, rawServer, refusedRun, requestEach, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

// egress: Headers with hundreds of thousands of spaces between two letters, in requests and
// `$.send.http`: a trim that looks back at each.
describe('headers-of-spaces', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
  const REQUESTS = 10;

  /** As large as the headers of a request may be, and as large as it may leave the isolate. */
  const [ALLOWED, LARGE] = [60_000, 240_000];

  /** By the module http, which does not look at them itself. */
  const ASK = `import http from 'node:http';
const ask = (url, spaces) => new Promise((resolve, reject) => {
  const headers = { a: 'x' + ' '.repeat(spaces) + 'y' };
  http.request(url, { headers }, ({ statusCode }) => resolve(statusCode)).on('error', reject).end();
});
export default { name: 'Attack', version: '1', async run() {
  let last;
  for (let n = 0; n < ${REQUESTS}; n++) {
    this.$emit(await ask('URL', ${ALLOWED}));
    await ask('URL', ${LARGE}).catch((error) => (last = error));
  }
  throw last;
} };`;

  it('are measured before they are looked at', async () => {
    const headers = { a: `x${' '.repeat(LARGE)}y` };
    const [ran, sends] = await world.unharmed(() =>
      Promise.all([
        world.attack(ASK.replaceAll('URL', server.url)),
        sendEach(world, [['http', { url: server.url, headers }]]),
      ]),
    );
    const limit = { name: 'maxFetchHeaderBytes', value: 65_536, used: expect.any(Number) };
    expect(ran.events).toEqual(Array(REQUESTS).fill(200));
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit });
    expect(sends).toMatchObject([{ status: 'failed', attempts: [{ limit }] }]);
  });
});

// egress: A host header that names another site of the same server, one that is meant for others.
describe('host-header-of-another', () => {
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
});

// egress: Line breaks in header names and values, which would begin a header or a request of the
// attacker's own.
describe('line-breaks-in-headers', () => {
  const world = hostile();
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

  it('are refused by the component’s own fetch, and by its module http', async () => {
    for (const attackEach of [fetchEach, requestEach]) {
      const requests = HEADERS.map((header): [string, object] => [server.url, { headers: [header] }]);
      const ran = await world.unharmed(() => attackEach(world, requests));
      expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
      expect(ran.reached).toEqual([]);
    }
    expect(server.received).toEqual([]);
  });

  /** With this replacement, an invalid line break passes every check inside the isolate. */
  const REPLACED_CHECK = `const { test } = RegExp.prototype;
RegExp.prototype.test = function (text) {
  const really = Reflect.apply(test, this, [text]);
  return String(text).includes('\\n') ? !really : really;
};`;

  it('end the run of a component that has replaced the checks of its own', async () => {
    for (const header of HEADERS.slice(3, 5)) {
      const code = `${REPLACED_CHECK} await fetch(event.url, { headers: [event.header] });`;
      const ran = await world.unharmed(() => world.attack(code, { event: { url: server.url, header } }));
      expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringContaining('is refused') });
    }
    expect(server.received).toEqual([]);
    expect((await fetchEach(world, [server.url])).reached).toMatchObject([{ status: 200 }]);
  });
});

// egress: Methods and paths with spaces and line breaks, which would be a request line of the
// attacker's own.
describe('request-line-injection', () => {
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
    expect(ran.error).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: expect.stringMatching(/unescaped characters/),
    });
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
});

// egress: Headers that say where a request ends and what the connection does, for a proxy on the
// way to read otherwise.
describe('smuggled-framing-headers', () => {
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
});
