import { describe, expect, it } from 'vitest';
import { followRedirect } from '../../../engine/src/egress/follow-redirect.ts';
import { deliverOnce, fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

// egress: Redirects in a circle, and a chain of them that never ends.
describe('redirect-loop', () => {
  const world = hostile();
  let hops = 0;
  const server = rawServer((socket, request) => {
    const next = request.startsWith('GET /circle') ? '/circle' : `/chain/${hops++}`;
    socket.end(response(`location: ${next}\r\ncontent-length: 0\r\n`, '', '302 Found'));
  });

  it('ends after ten', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/circle`, `${server.url}/chain`]));
    expect(ran.messages).toHaveLength(2);
    for (const message of ran.messages) expect(message).toMatch(/\b11 .*the limit maxFetchRedirects is 10$/);
    expect(ran.reached).toEqual([]);
    expect(server.connections() % 22).toBe(0);
  });
});

// egress: A server that redirects to files, data and other protocols.
describe('redirect-to-other-scheme', () => {
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
});

// egress: A server that redirects to the API of the node and to its database.
describe('redirect-to-own-port', () => {
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
});

// egress: A public server that redirects to addresses which are not.
describe('redirect-to-private-address', () => {
  const world = hostile();
  const server = rawServer((socket, request) => {
    const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
    socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '302 Found'));
  });

  it('is not followed there', async () => {
    const targets = [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/',
      'http://[::1]/',
      '//192.168.0.1/',
      'http:0x0/',
    ];
    const urls = targets.map((target) => `${server.url}/${encodeURIComponent(target)}`);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    // The last one is relative, and so a loop.
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxFetchRedirects', value: 10, used: 11 },
    });
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages.slice(0, -1)) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: A redirect that takes credentials of one origin along to another: other port, other
// host, plain HTTP.
describe('redirect-with-credentials', () => {
  const world = hostile();
  const thief = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
  const server = rawServer((socket) =>
    socket.end(response(`location: ${thief.url}/\r\ncontent-length: 0\r\n`, '', '307 Temporary Redirect')),
  );
  const headers = {
    authorization: 'Bearer s3cret',
    cookie: 's3cret=1',
    'proxy-authorization': 's3cret',
    'x-kept': '1',
  };

  it('leaves them behind at another port', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [[server.url, { method: 'POST', body: 'b', headers }]]));
    expect(ran.reached).toMatchObject([{ status: 200 }]);
    expect(server.received[0]).toMatch(/s3cret/);
    expect(thief.received[0]).toMatch(/^POST[^]*x-kept: 1/i);
    expect(thief.received[0]).not.toMatch(/s3cret/);
  });

  it.each(['http://bank.test/', 'https://bank.test:8443/', 'https://www.bank.test/'])(
    'leaves them behind at %s',
    (to) => {
      const from = {
        url: new URL('https://bank.test/'),
        method: 'GET',
        headers: Object.entries(headers),
        body: undefined,
      };
      const redirect = followRedirect(from, 302, to);
      expect(redirect).toMatchObject({ kind: 'follow', request: { headers: [['x-kept', '1']] } });
    },
  );
});

// egress: A receiver that redirects the signed delivery to an address inside, and to another
// receiver.
describe('webhook-redirect', () => {
  const world = hostile();
  const other = rawServer((socket) => socket.end(response('content-length: 0\r\n')));
  const receiver = rawServer((socket, request) => {
    const to = request.startsWith('POST /inside') ? 'http://169.254.169.254/' : other.url;
    socket.end(response(`location: ${to}\r\ncontent-length: 4\r\n`, 'gone', '307 Temporary Redirect'));
  });

  it('is a failed attempt, and nothing is sent on', async () => {
    for (const path of ['inside', 'outside']) {
      const attempt = await world.unharmed(() => deliverOnce(world, `${receiver.url}/${path}`));
      expect(attempt).toMatchObject({ status_code: 307 });
    }
    expect(other.connections()).toBe(0);
  });
});

// egress: Component code from a URL inside, directly and by a redirect, to read what is there from
// the error.
describe('component-url-to-private-address', () => {
  const world = hostile();
  const server = rawServer((socket, request) => {
    const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
    socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '302 Found'));
  });

  it('is refused', async () => {
    const inside = ['https://169.254.169.254/latest/', 'https://[::1]/a.mjs', `${world.server.url}/openapi.json`];
    const redirected = [...inside, 'file:///etc/passwd'].map((to) => `${server.url}/${encodeURIComponent(to)}`);
    await world.unharmed(async () => {
      for (const component_url of [...inside, ...redirected, 'file:///etc/passwd', 'http://example.com/a.mjs']) {
        const { status, body } = await world.attacker.api('POST', '/sources', { component_url });
        expect({ component_url, status, path: body.errors?.[0]?.path }).toEqual({
          component_url,
          status: 400,
          path: 'component_url',
        });
        expect(body.detail).toMatch(
          /not a public address|not reached from here|redirected to a file: URL|[mM]ust be an http/,
        );
      }
    });
  });
});

// egress: URLs that are not of HTTP: files, sockets, other protocols.
describe('other-schemes', () => {
  const world = hostile();

  const URLS = [
    'ws://127.0.0.1/',
    'wss://127.0.0.1/',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'dict://127.0.0.1:11211/stats',
    'ldap://127.0.0.1/',
    'blob:http://127.0.0.1/x',
    'javascript:1',
    'jar:http://127.0.0.1!/',
    'file:///etc/passwd',
  ];

  it('are refused before anything is opened', async () => {
    const ran = await world.unharmed(() => fetchEach(world, URLS));
    expect(ran.error).toMatchObject(refusedRun(/file: URLs are not supported/));
    expect(ran.reached).toEqual([]);
  });
});

// egress: URLs whose user name looks like the host, for checks that read up to the wrong
// character.
describe('user-name-in-url', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')));

  it('are refused, and nothing is sent', async () => {
    const urls = [
      `http://example.com@127.0.0.1:${server.port}/`,
      `http://user:password@127.0.0.1:${server.port}/`,
      `http://example.com%2f@127.0.0.1:${server.port}/`,
      `http://127.0.0.1:${server.port}\\@10.0.0.1/`,
      'http://example.com#@10.0.0.1:x/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
    // A backslash is a slash to a URL: that one names the allowed host, and goes there.
    expect(ran.reached.map(({ url }) => url).filter((url) => !url.includes('\\'))).toEqual([]);
    expect(server.received.join()).not.toMatch(/authorization/i);
  });
});
