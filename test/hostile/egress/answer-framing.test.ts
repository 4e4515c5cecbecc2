import { describe, expect, it } from 'vitest';
import { deliverOnce, drip, fetchEach, flood, rawServer, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

// egress: Answers that break the protocol: bad chunks, contradicting lengths, an unrequested
// upgrade, no HTTP at all.
describe('broken-answers', () => {
  const world = hostile();
  const OK = 'HTTP/1.1 200 OK\r\n';
  const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
  const ANSWERS = [
    `${CHUNKED}zz\r\nok\r\n0\r\n\r\n`,
    `${CHUNKED}-1\r\nok\r\n0\r\n\r\n`,
    `${CHUNKED}ffffffffffffffffff\r\nok`,
    `${CHUNKED}2\r\nokay\r\n0\r\n\r\n`,
    `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\noka`,
    `${OK}content-length: -2\r\n\r\nok`,
    `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok`,
    `${OK}content-length: 99\r\n\r\nok`,
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 99999 Odd\r\n\r\n',
    'HTTP/1.1 000 Nothing\r\n\r\n',
    'HTTP/9.9 200 OK\r\n\r\n',
    `${OK}x a: b\r\n\r\n`,
    'SSH-2.0-OpenSSH_9.9\r\n',
    '\0\0\0\0',
    '',
  ];
  const server = rawServer((socket, request) =>
    socket.end(ANSWERS[Number(/^GET \/(\d+)/.exec(request)?.[1])] ?? '', 'latin1'),
  );

  it('are errors of their requests and of nothing else', async () => {
    const ran = await world.unharmed(() =>
      fetchEach(
        world,
        ANSWERS.map((_, index) => `${server.url}/${index}`),
      ),
    );
    expect(ran.error).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: expect.stringMatching(/fetch failed: 127\.0\.0\.1/),
    });
    expect(ran.reached).toEqual([]);
    expect(ran.messages.join()).not.toMatch(/node_modules|\.js|\.ts|ASSERT/);
  });
});

// limits: A body of one byte, after a chunk extension that never ends: bytes that no count of the
// body sees.
describe('chunk-extension-flood', () => {
  const world = hostile();
  const server = rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;');
    drip(socket, 'e'.repeat(1024), 5);
  });

  it('is over at the timeout at the latest', async () => {
    await world.limit({ fetchTimeoutMs: 1_000 });
    const ran = await world.unharmed(() => fetchEach(world, [server.url]));
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
    await expect.poll(server.open).toBe(0);
  });
});

// limits: Bodies in chunks of one byte, each with 64 KB of extension or without, in answers to
// requests and to deliveries.
describe('chunks-of-one-byte', () => {
  const world = hostile();
  const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const PADDED = `1;${'a'.repeat(65_500)}\r\nx\r\n`;
  const BARE = '1\r\nx\r\n'.repeat(10_000);
  let [written, ended] = [0, 0];
  const server = rawServer((socket, request) => {
    socket.on('close', () => {
      written += socket.bytesWritten;
      ended += 1;
    });
    socket.write(HEAD);
    flood(socket, request.includes('/padded ') ? PADDED : BARE);
  });
  /** Bytes of each connection that the network may buffer without a reader. */
  const IN_TRANSIT = 16 * 1024 * 1024;

  it('with extensions are ended before they are read by the megabyte', async () => {
    await world.unharmed(async () => {
      [written, ended] = [0, 0];
      const ran = await fetchEach(world, Array(4).fill(`${server.url}/padded`));
      expect(ran.reached).toEqual([]);
      for (const message of ran.messages) expect(message).toMatch(/the limit maxFetchFramingBytes is 524 288/);
      await expect.poll(() => ended).toBe(4);
      expect(written).toBeLessThan(4 * IN_TRANSIT);
    });
  });

  it('without are ended where they have cost as much as the largest answers together', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/bare`]));
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxFetchBytesPerTenant' } });
    await expect.poll(server.open).toBe(0);
  });

  it('connections to receivers are closed, and the status counts', async () => {
    for (const kind of ['padded', 'bare']) {
      const attempt = await world.unharmed(() => deliverOnce(world, `${server.url}/${kind}`));
      expect(attempt).toMatchObject({ status_code: 200, response: expect.stringMatching(/^x+$/) });
    }
    await expect.poll(server.open).toBe(0);
  });
});

// egress: Headers without an end: one that never stops, and one after another.
describe('endless-headers', () => {
  const world = hostile();
  const VALUE = 'v'.repeat(16_384);
  const LINES = 'x-a: b\r\n'.repeat(2_048);
  const server = rawServer((socket, request) => {
    const isLong = request.startsWith('GET /long');
    socket.write(isLong ? 'HTTP/1.1 200 OK\r\nx-long: ' : 'HTTP/1.1 200 OK\r\n');
    flood(socket, isLong ? VALUE : LINES);
  });

  it('are given up at the limit of headers', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/long`, `${server.url}/many`]));
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxFetchResponseHeaderBytes', value: 16_384 },
    });
    expect(ran.reached).toEqual([]);
    await expect.poll(server.open).toBe(0);
  });
});

// egress: Trailers without an end, after a body that is complete.
describe('endless-trailers', () => {
  const world = hostile();
  const LINES = 'x-a: b\r\n'.repeat(2_048);
  const server = rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n');
    flood(socket, LINES);
  });

  it('are given up at the limit of headers', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [server.url]));
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxFetchResponseHeaderBytes', value: 16_384 },
    });
    await expect.poll(server.open).toBe(0);
  });
});

// egress: One interim response after another (103 Early Hints), and never the response.
describe('interim-response-flood', () => {
  const world = hostile();
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
  const server = rawServer((socket, request) => {
    if (request.startsWith('GET /few')) {
      socket.end(`${HINTS}${HINTS}HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok`);
    } else flood(socket, HINTS.repeat(200));
  });

  it('is ended, while a few of them do no harm', async () => {
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/few`, server.url]));
    expect(ran.reached).toEqual([{ url: `${server.url}/few`, status: 200 }]);
    expect(ran.error).toMatchObject(refusedRun(/one interim response after another/));
    await expect.poll(server.open).toBe(0);
  });
});

// egress: A second answer sent along with the first, for the next request on the connection to
// take as its own.
describe('response-splitting', () => {
  const world = hostile();
  const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const server = rawServer((socket) => socket.write(answer('true') + answer('FORGED')));
  const REQUESTS = 5;

  const READ = `for (let n = 0; n < ${REQUESTS}; n++) {
  const read = await fetch(event.url).then((response) => response.text(), () => 'failed');
  this.$emit({ read });
}`;

  it('reaches no other request', async () => {
    const { ran, connections } = await world.unharmed(async () => {
      const before = server.connections();
      const outcome = await world.attack(READ, { event: { url: server.url } });
      return { ran: outcome, connections: server.connections() - before };
    });
    expect(ran.error).toBeUndefined();
    expect(ran.events).toHaveLength(REQUESTS);
    for (const { read } of ran.events) expect(read).toMatch(/^(true|failed)$/);
    // Each on one of its own: what came unasked closes the connection.
    expect(connections).toBe(REQUESTS);
  });
});

// limits: An answer that comes a byte at a time, and says that it has a gigabyte.
describe('slow-body', () => {
  const world = hostile();
  const server = rawServer((socket, request) => {
    const length = request.startsWith('GET /short') ? 5 : 1_000_000_000;
    socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`);
    drip(socket, 'a');
  });

  it('ends at the timeout of a request, and its connection is closed', async () => {
    await world.limit({ fetchTimeoutMs: 1_000 });
    // The short one arrives, byte by byte: what the long one waits for is the rest of its body.
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/short`, `${server.url}/long`]));
    expect(ran.reached).toEqual([{ url: `${server.url}/short`, status: 200 }]);
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
    expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(1_000);
    await expect.poll(server.open).toBe(0);
  });
});

// limits: An answer whose headers come a byte at a time.
describe('slow-headers', () => {
  const world = hostile();
  const server = rawServer((socket, request) => {
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\nx-slow: ');
    drip(socket, 'a');
    if (request.startsWith('GET /short')) setTimeout(() => socket.end('\r\n\r\n'), 100);
  });

  it('ends at the timeout of a request, and its connection is closed', async () => {
    await world.limit({ fetchTimeoutMs: 1_000 });
    // The short one arrives, byte by byte: what the long one waits for is the end of its headers.
    const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/short`, `${server.url}/long`]));
    expect(ran.reached).toEqual([{ url: `${server.url}/short`, status: 200 }]);
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
    expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(1_000);
    await expect.poll(server.open).toBe(0);
  });
});

// limits: A server that takes the request and says next to nothing.
describe('silent-server', () => {
  const world = hostile();
  const server = rawServer((socket) => {
    socket.write('H');
    drip(socket, '');
  });

  it('ends at the timeout of a request, and its connection is closed', async () => {
    await world.limit({ fetchTimeoutMs: 1_000 });
    const ran = await world.unharmed(() => fetchEach(world, [server.url]));
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
    expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(1_000);
    await expect.poll(server.open).toBe(0);
  });
});
