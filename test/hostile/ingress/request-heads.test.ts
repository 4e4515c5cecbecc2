import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

// ingress: NUL, line breaks and bytes above ASCII in the request line and in headers, raw and
// percent-encoded.
describe('control-characters-in-the-path', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

  it('raw ones are a 400; encoded ones are text, and split neither headers nor log lines', async () => {
    const { attacker, server } = world;
    const path = new URL((await attacker.deploy(BIN)).endpoint).pathname;
    const request = (target: string, header = 'x-a: b') =>
      `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n\r\n`;
    await world.unharmed(async () => {
      for (const byte of ['\0', '\n', '\r', '\x7f', '\x1b']) {
        for (const bytes of [
          request(`${path}/${byte}x`),
          request(path, `x-a: b${byte}c`),
          request(path, `x${byte}a: b`),
        ]) {
          const { statuses } = await exchange(server, bytes);
          // A bare line feed ends a header line for lenient readers: then the rest is a header
          // without a colon.
          expect([JSON.stringify(byte), statuses.filter((status) => status !== 400)]).toEqual([
            JSON.stringify(byte),
            [],
          ]);
        }
      }
      for (const code of ['%00', '%0d%0aset-cookie:%20a=b', '%ff', '%c0%ae%c0%ae%2f', '%u0000']) {
        const [event, api] = await Promise.all([
          exchange(server, request(`${path}/${code}`)),
          exchange(server, request(`/v1/sources/${code}`)),
        ]);
        expect([code, event.statuses, api.statuses]).toEqual([code, [200], [401]]);
        expect(event.text + api.text).not.toMatch(/^set-cookie/im);
      }
    });
  });
});

// ingress: Host headers and targets of thousands of percent-encoded letters, to make host names of
// them takes 10 ms each.
describe('hosts-of-many-letters', () => {
  const world = hostile();

  const LETTERS = Array.from({ length: 3_300 }, (_, at) => encodeURIComponent(String.fromCodePoint(0x4e00 + at))).join(
    '',
  );
  const ROUNDS = 40;
  const HEADS = [
    `GET /healthz HTTP/1.1\r\nhost: ${LETTERS}`,
    `GET /healthz HTTP/1.0\r\nhost: ${LETTERS}`,
    `GET /v1/sources HTTP/1.1\r\nhost: user@${LETTERS}:80`,
    `GET http://${LETTERS}/healthz HTTP/1.1\r\nhost: x`,
    `GET https://user@${LETTERS}/healthz HTTP/1.1\r\nhost: x`,
    // The rest of the host, and all of it, by the target.
    `GET *${LETTERS} HTTP/1.1\r\nhost: x~`,
    `GET /${LETTERS} HTTP/1.1\r\nhost: /`,
    `GET /${LETTERS} HTTP/1.1\r\nhost: \\\t/`,
  ];

  it('each is refused before a URL is made of it, long paths are not, and the server goes on', async () => {
    const { server } = world;
    await world.unharmed(async () => {
      for (const head of HEADS) {
        const { text } = await exchange(server, `${head}\r\nconnection: close\r\n\r\n`);
        const title = head.replace(LETTERS, '…');
        expect([title, text]).toEqual([title, expect.stringMatching(/^HTTP\/1\.1 400 /)]);
        expect([title, text]).toEqual([title, expect.stringContaining('longer than 512 characters')]);
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = await Promise.all(
          HEADS.map((head) => exchange(server, `${head}\r\nconnection: close\r\n\r\n`, { timeoutMs: 30_000 })),
        );
        expect(answers.flatMap(({ statuses }) => statuses)).toEqual(HEADS.map(() => 400));
      }
      for (const head of [
        `GET /healthz?${LETTERS} HTTP/1.1\r\nhost: ${'x'.repeat(512)}`,
        `GET /healthz?${LETTERS} HTTP/1.0`,
        `GET /healthz?${LETTERS} HTTP/1.1\r\nhost: `,
        `GET http://x/healthz?${LETTERS} HTTP/1.1\r\nhost: x`,
      ]) {
        const { statuses } = await exchange(server, `${head}\r\nconnection: close\r\n\r\n`);
        expect([head.replace(LETTERS, '…'), statuses]).toEqual([head.replace(LETTERS, '…'), [200]]);
      }
      // No URL is made of the address of an endpoint.
      const { statuses } = await exchange(server, `GET /e/x HTTP/1.1\r\nhost: ${LETTERS}\r\nconnection: close\r\n\r\n`);
      expect(statuses).toEqual([404]);
    });
  });
});

// ingress: Host headers and request targets that make no URL, missing ones, and expectations that
// no server can meet.
describe('hosts-that-are-none', () => {
  const world = hostile();

  const HOSTS = ['a b', '[', '[::1', '[::1%25eth0]', '::1', 'x/y', 'x?y', 'x#y', '%', 'x:99999', 'user@x', 'ü'];
  const TARGETS = ['*', 'ftp://x/v1/sources', 'http://', 'http://%zz/', 'https://x:99999/v1/sources', '/v1/sources\\'];

  it('each is answered with a problem that says so, and HTTP/1.0 without a host is served', async () => {
    const { server } = world;
    const problemOf = async (head: string) => {
      const { text } = await exchange(server, Buffer.from(`${head}\r\nconnection: close\r\n\r\n`, 'latin1'));
      const [headers = '', body = ''] = text.split('\r\n\r\n');
      expect(headers).toMatch(/content-type: application\/problem\+json/i);
      return JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? '') as { status: number; detail: string };
    };
    await world.unharmed(async () => {
      for (const host of HOSTS) {
        const problem = await problemOf(`GET /v1/sources HTTP/1.1\r\nhost: ${host}`);
        expect([host, problem]).toMatchObject([host, { status: 400, detail: expect.stringContaining('host header') }]);
      }
      for (const target of TARGETS) {
        const problem = await problemOf(`GET ${target} HTTP/1.1\r\nhost: x`);
        expect([target, problem]).toMatchObject([target, { status: 400, detail: expect.stringContaining('target') }]);
      }
      expect(await problemOf('GET /v1/sources HTTP/1.1\r\nx: y')).toMatchObject({
        status: 400,
        detail: 'The host header is missing',
      });
      expect(await problemOf('GET / HTTP/1.1\r\nhost: x\r\nexpect: wonders')).toMatchObject({ status: 417 });
      expect((await exchange(server, 'GET /healthz HTTP/1.0\r\n\r\n')).statuses).toEqual([200]);
    });
  });
});

// ingress: Speaking HTTP/2, TLS, a proxy protocol, SOCKS, Postgres and noise to the port.
describe('http2-preface', () => {
  const world = hostile();
  const GREETINGS: Record<string, string | Buffer> = {
    http2: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    tls: Buffer.from('16030100c8010000c40303', 'hex'),
    proxy: 'PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n',
    socks: Buffer.from([5, 1, 0]),
    postgres: Buffer.from('0000000804d2162f', 'hex'),
    http09: 'GET /\r\n\r\n',
    http3: 'GET / HTTP/3.0\r\nhost: x\r\n\r\n',
    noise: randomBytes(10_000),
  };

  it('is a 400 and the end of the connection', async () => {
    await world.unharmed(async () => {
      for (const [name, bytes] of Object.entries(GREETINGS)) {
        const { statuses, closed } = await exchange(world.server, bytes);
        expect([name, statuses, closed]).toEqual([name, [400], true]);
      }
    });
  });
});

// ingress: Megabytes of one header, to an endpoint and to the API.
describe('huge-headers', () => {
  const world = hostile();
  const LINES = 'x'.repeat(4 * 1024 * 1024);

  it('is a 431 and the end of the connection', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const path of ['/e/x', '/v1/sources', '/healthz']) {
          const { statuses, closed } = await exchange(
            server,
            `GET ${path} HTTP/1.1\r\nhost: x\r\nx-huge: ${LINES}\r\n\r\n`,
          );
          // A client that still sends when the connection closes may not get to read the answer.
          expect([path, statuses.filter((status) => status !== 431), closed]).toEqual([path, [], true]);
        }
        const small = await exchange(server, `GET / HTTP/1.1\r\nhost: x\r\nx-huge: ${LINES.slice(0, 40_000)}\r\n\r\n`);
        expect(small).toMatchObject({ statuses: [431], closed: true });
      }),
    );
  });
});

// ingress: A path and a query string of megabytes, in pieces below and above the bound.
describe('huge-url', () => {
  const world = hostile();

  it('is a 431, and a 404 where it is only long', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const [length, status] of [
          [30_000, 404],
          [40_000, 431],
          [3_000_000, 431],
        ] as const) {
          for (const url of [
            `/e/${'k'.repeat(length)}`,
            `/v1/${'a/'.repeat(length / 2)}`,
            `/e/x?${'a&'.repeat(length / 2)}`,
          ]) {
            const { statuses } = await exchange(server, `GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
            expect([length, url.slice(0, 6), statuses.filter((found) => found !== status)]).toEqual([
              length,
              url.slice(0, 6),
              [],
            ]);
          }
        }
      }),
    );
  });
});

// ingress: Ten thousand short headers, and the same one over and over.
describe('many-headers', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

  it('is a 431 above the bound on their bytes, and below it all of them arrive', async () => {
    const { attacker, server } = world;
    const path = new URL((await attacker.deploy(BIN)).endpoint).pathname;
    const request = (lines: string[]) =>
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}\r\n`;
    const many = Array.from({ length: 10_000 }, (_, n) => `h${n}: 1\r\n`);
    await world.unharmed(() =>
      withinMemory(server, async () => {
        expect(await exchange(server, request(many))).toMatchObject({ statuses: [431], closed: true });
        expect(await exchange(server, request(many.map(() => 'a: 1\r\n')))).toMatchObject({ statuses: [431] });
        expect(await exchange(server, request(many.slice(0, 400)))).toMatchObject({ statuses: [200] });
      }),
    );
  });
});

// ingress: Upgrades to WebSocket and h2c, CONNECT to make a proxy of the server, TRACE, and unknown
// methods.
describe('upgrade-and-connect', () => {
  const world = hostile();
  /** Port on which another server of this machine might listen. */
  const PORT = 5432;

  it('the connection stays what it is: nothing is tunnelled, echoed or switched', async () => {
    const { server } = world;
    const rest = 'host: x\r\nconnection: close\r\n\r\n';
    const upgrade = (protocol: string) =>
      `GET /e/x HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: ${protocol}\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n`;
    const requests = [
      upgrade('websocket'),
      upgrade('h2c'),
      `CONNECT 127.0.0.1:${PORT} HTTP/1.1\r\n${rest}`,
      `CONNECT ${new URL(server.url).host} HTTP/1.1\r\n${rest}`,
      `TRACE /v1/sources HTTP/1.1\r\nx-secret: echoed\r\n${rest}`,
      `TRACK / HTTP/1.1\r\nx-secret: echoed\r\n${rest}`,
      `PROPFIND /v1/sources HTTP/1.1\r\n${rest}`,
      `GET http://169.254.169.254/latest/meta-data HTTP/1.1\r\n${rest}`,
    ];
    await world.unharmed(async () => {
      for (const request of requests) {
        const { statuses, text, closed } = await exchange(server, request);
        expect([request, closed]).toEqual([request, true]);
        expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
        expect(text).not.toContain('echoed');
      }
    });
  });
});
