import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { deliverOnce, fetchEach, flood, rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';

// egress: URLs with hosts of thousands of Chinese letters, in sends, redirects and webhooks: 20 ms
// of the thread each to read.
describe('hosts-of-many-letters', () => {
  const world = hostile();
  const SENDS = 20;

  function letters(count: number): string {
    return Array.from({ length: count }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
  }

  const redirecting = rawServer((socket, request) => {
    const isPath = request.startsWith('GET /path');
    const location = isPath ? `/${'a'.repeat(5_000)}` : `//${encodeURIComponent(letters(1_500))}/`;
    socket.end(response(`location: ${request.startsWith('GET /aaa') ? '/end' : location}\r\n`, '', '302 Found'));
  });

  it('are refused before they are read', async () => {
    const { attacker } = world;
    // The guest reads them as well, at the cost of its own CPU time.
    const host = letters(1_000);
    const urls = [`http://${host}/`, `http://${host}?`, `http://a\t@${host}:80?x`];
    const calls = Array.from({ length: SENDS }, (_, n): ['http', object] => ['http', { url: urls[n % urls.length] }]);
    for (const { status, attempts } of await world.unharmed(() => sendEach(world, calls)))
      expect([status, attempts[0]?.error]).toEqual(['failed', expect.stringContaining('longer than 512 characters')]);
    const url = `https://${letters(2_000)}/`;
    const made = await world.unharmed(() => attacker.api('POST', '/webhooks', { url }));
    expect([made.status, made.text]).toEqual([400, expect.stringContaining('a host of more than 512 characters')]);
    const followed = await world.unharmed(() =>
      fetchEach(world, [`${redirecting.url}/host`, [`${redirecting.url}/path`, { redirect: 'manual' }]]),
    );
    expect(followed.messages).toEqual([expect.stringContaining('the limit maxUrlHostChars is 512')]);
    expect(followed.reached).toMatchObject([{ status: 302 }]);
  });
});

// limits: URLs with hosts of five thousand Chinese letters for webhooks and components, again and
// again: 40 ms of the thread to read one.
describe('urls-of-many-letters', () => {
  const world = hostile();
  /** The most of which the parser of URLs makes the letters of a host's name. */
  const LETTERS = 5_400;
  const ASKED = 20;

  it('are refused for their length', async () => {
    const { attacker } = world;
    const host = Array.from({ length: LETTERS }, (_, n) => String.fromCharCode(0x4e00 + n)).join('');
    const url = `https://${host}/`;
    await world.unharmed(async () => {
      for (let n = 0; n < ASKED; n++)
        for (const [path, parameters] of [
          ['/components', { component_url: url }],
          ['/sources', { component_url: url }],
          ['/webhooks', { url }],
        ] as const) {
          const { status, text } = await attacker.api('POST', path, parameters);
          expect([path, status, text.length < 2_000]).toEqual([path, 400, true]);
          expect(text).toContain('is longer than 2048 characters');
        }
    });
  });
});

// egress: URLs and options by which some clients reach sockets in the file system.
describe('unix-socket-urls', () => {
  const world = hostile();
  const SOCKET = '/var/run/docker.sock';

  it('open no socket of the file system', async () => {
    const urls = [`unix:${SOCKET}`, `http+unix://${encodeURIComponent(SOCKET)}/info`, `http://unix:${SOCKET}:/info`];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
    expect(ran.reached).toEqual([]);
  });

  it('as options of node:http do not either', async () => {
    const ran = await world.unharmed(() =>
      world.attack(`
import http from 'node:http';
export default { name: 'Attack', version: '1', async run() {
  await new Promise((resolve, reject) => {
    http.get({ socketPath: '${SOCKET}', path: '/info' }, resolve).on('error', reject);
  });
} };`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  });
});

// egress: Webhooks whose URL is a file, a socket, another protocol, or holds a password.
describe('webhook-url-schemes', () => {
  const world = hostile();
  const URLS = [
    'file:///etc/passwd',
    'unix:/var/run/docker.sock',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'javascript:1',
    'http://user:password@127.0.0.1/',
    'http://127.0.0.1:99999/',
    '/relative',
  ];

  it('are refused when they are saved', async () => {
    await world.unharmed(async () => {
      for (const url of URLS) {
        const { status, body } = await world.attacker.api('POST', '/webhooks', { url });
        expect({ url, status, path: body.errors?.[0]?.path }).toEqual({ url, status: 400, path: 'url' });
      }
    });
  });
});

// egress: Webhooks whose URL is inside: private addresses, metadata, the node’s own API and
// database.
describe('webhook-to-private-address', () => {
  const world = hostile();

  it('are refused when they are saved, and not delivered to', async () => {
    const { port } = new URL(world.server.databaseUrl);
    for (const url of ['http://169.254.169.254/latest/', 'http://[::1]/', 'http://10.0.0.1:8080/']) {
      const { status, text } = await world.attacker.api('POST', '/webhooks', { url });
      expect({ url, status, text }).toEqual({ url, status: 400, text: expect.stringMatching(/not a public address/) });
    }
    for (const url of [`${world.server.url}/v1/users/me`, `http://0x7f.1:${port}/`]) {
      const attempt = await world.unharmed(() => deliverOnce(world, url));
      expect({ url, ...attempt }).toMatchObject({ error: expect.stringMatching(/not reached from here/) });
      expect(attempt).not.toHaveProperty('status_code');
    }
  });
});

// egress: A receiver whose answer has no end, and one whose headers have none.
describe('webhook-endless-answer', () => {
  const world = hostile();
  const CHUNK = Buffer.alloc(64 * 1024, 'a');
  const receiver = rawServer((socket, request) => {
    const isBody = request.startsWith('POST /body');
    socket.write(isBody ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 200 OK\r\nx-long: ');
    flood(socket, CHUNK);
  });

  it('is read no further than is kept', async () => {
    const body = await world.unharmed(() => deliverOnce(world, `${receiver.url}/body`));
    expect(body).toMatchObject({ status_code: 200 });
    expect(body.response?.length).toBeLessThanOrEqual(1_024);
    const headers = await world.unharmed(() => deliverOnce(world, `${receiver.url}/headers`));
    expect(headers).toMatchObject({ error: expect.stringMatching(/headers that are too large/) });
    await expect.poll(receiver.open).toBe(0);
  });
});

// egress: Webhooks that point at a foreign server, and many events for each.
describe('webhooks-as-a-flood', () => {
  const world = hostile();
  const ANSWER_MS = 50;
  const victim = rawServer((socket) => setTimeout(() => socket.end(response('content-length: 0\r\n')), ANSWER_MS));
  const [WEBHOOKS, EVENTS] = [5, 50];
  const LIMITS = { maxDeliveriesPerSecond: 15, maxDeliveryConnections: 4 };
  const BURST_SECONDS = 10;
  const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

  it('reach it no faster, and over no more connections, than the account may have', async () => {
    const { attacker } = world;
    await world.limit(LIMITS);
    const source = await attacker.deploy(EMIT);
    for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${victim.url}/${i}`);
    let rounds = 0;
    let begunMs = 0;
    const seconds = await world.unharmed(async () => {
      rounds++;
      if (rounds === 1) begunMs = performance.now();
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      await eventually(() => victim.connections() >= rounds * WEBHOOKS * EVENTS, { timeoutMs: 60_000 });
      return (performance.now() - begunMs) / 1_000;
    });
    // Time of the first round only; 150 of its 250 deliveries fit into the burst.
    expect(seconds).toBeGreaterThan((WEBHOOKS * EVENTS) / LIMITS.maxDeliveriesPerSecond - BURST_SECONDS - 1);
    // One may be seen to begin before another is seen to have ended.
    expect(victim.most()).toBeLessThan(2 * LIMITS.maxDeliveryConnections);
  });
});

// fairness: Webhooks of the attacker at the origin of the neighbour’s receiver, each attempt never
// answered.
describe('slow-receivers', () => {
  const world = hostile();
  const receiver = rawServer((socket, request) => {
    if (request.startsWith('POST /neighbour')) socket.end(response('content-length: 0\r\n'));
  });
  const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < 300; i++) this.$emit(i); } };`;

  it('hold up no delivery of the neighbour to the same origin', async () => {
    const { attacker, neighbour, sql } = world;
    await world.unharmed(async () => {
      const source = await attacker.deploy(EMIT);
      for (let i = 0; i < 10; i++) {
        const webhook = await attacker.api('POST', '/webhooks', { url: `${receiver.url}/hang/${i}` });
        await attacker.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.body.data.id });
      }
      await attacker.api('POST', `/sources/${source.id}/run`, {});
      await expect.poll(receiver.open).toBeGreaterThanOrEqual(100);
      const attempt = await deliverOnce({ ...world, attacker: neighbour, sql }, `${receiver.url}/neighbour`);
      expect(attempt).toMatchObject({ status_code: 200 });
      expect(receiver.open()).toBeLessThanOrEqual(257);
    });
  });
});
