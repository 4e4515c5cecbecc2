import { describe, expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

// egress: Requests of `$.send.http` to addresses inside: metadata, loopback in other spellings,
// the node’s own API and database.
describe('sends-to-private-addresses', () => {
  const world = hostile();

  it('are not made', async () => {
    const { port } = new URL(world.server.databaseUrl);
    const urls = [
      'http://169.254.169.254/latest/',
      'http://[::1]/',
      'http://10.0.0.1/',
      `${world.server.url}/v1/users/me`,
      `http://0x7f.1:${port}/`,
    ];
    const sends = await world.unharmed(() =>
      sendEach(
        world,
        urls.map((url) => ['http', { url }]),
      ),
    );
    expect(sends).toHaveLength(urls.length);
    for (const { payload, status, attempts } of sends) {
      expect({ payload, status, attempts }).toMatchObject({
        status: 'pending',
        attempts: [{ status_code: null, error: expect.stringMatching(/not a public address|not reached from here/) }],
      });
    }
  });
});

// egress: Line breaks, framing headers and another host in the headers of `$.send.http`.
describe('sends-with-forged-headers', () => {
  const world = hostile();

  it('leave as one request with its own framing, or not at all', async () => {
    const receiver = await startReceiver();
    const { url } = receiver;
    try {
      const sends = await world.unharmed(() =>
        sendEach(world, [
          ['http', { url, headers: { a: 'b\r\nx-injected: 1' } }],
          ['http', { url, headers: { 'a: b\r\nx-injected': '1' } }],
          ['http', { url, headers: { host: 'other.example' } }],
          [
            'http',
            { url: `${url}/framed`, data: 'body', headers: { 'transfer-encoding': 'chunked', 'content-length': '1' } },
          ],
        ]),
      );
      expect(sends.map(({ status }) => status).toSorted()).toEqual(['delivered', 'failed', 'failed', 'failed']);
      const framed = receiver.requests.filter((request) => request.url === '/framed');
      expect(new Set(receiver.requests.map((request) => request.url))).toEqual(new Set(['/framed']));
      expect(framed[0]).toMatchObject({ body: 'body', headers: { 'content-length': '4' } });
      expect(framed[0]?.headers).not.toHaveProperty('x-injected');
      expect(framed[0]?.headers).not.toHaveProperty('transfer-encoding');
    } finally {
      await receiver.stop();
    }
  });
});

// egress: An S3 server at an address inside: told at once where the address says it, and at each
// attempt where a name leads there.
describe('uploads-to-private-addresses', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')), '0.0.0.0');

  const setServer = (endpoint: string) => {
    const keys = { access_key_id: 'AKIA', secret_access_key: 'a-secret-of-the-attacker' };
    return world.attacker.api('PUT', '/sends/s3', { endpoint, region: 'us-east-1', ...keys });
  };

  it('is not reached', async () => {
    const { refused, sends } = await world.unharmed(async () => {
      const answers = [];
      for (const host of ['169.254.169.254', '10.0.0.1', '[::1]', '0x7fc80001']) {
        answers.push(await setServer(`http://${host}:${server.port}`));
      }
      const name = await nameWith({ addresses: [PRIVATE_LOOPBACK] });
      expect((await setServer(`http://${name}:${server.port}`)).status).toBe(200);
      return { refused: answers, sends: await sendEach(world, [['s3', { bucket: 'bucket', payload: { a: 1 } }]]) };
    });
    for (const { status, text } of refused)
      expect([status, text]).toEqual([400, expect.stringMatching(/public address/)]);
    expect(sends).toMatchObject([
      { status: 'pending', attempts: [{ error: expect.stringMatching(/public address/) }] },
    ]);
    expect(server.connections()).toBe(0);
  });
});

// egress: Answers of an S3 server that take an XML parser seconds each: 64 KB of doctypes,
// thousands of attributes, entities in entities.
describe('answers-of-an-s3-server', () => {
  const world = hostile();
  /** Largest part of an answer that is read, less room for its headers. */
  const MAX_BYTES = 64 * 1024 - 200;
  const UPLOADS = 30;

  const filled = (begin: string, text: string) =>
    begin + text.repeat(Math.floor((MAX_BYTES - Buffer.byteLength(begin)) / text.length));
  const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join('');
  const ANSWERS: readonly [body: string, said: string][] = [
    [filled('<!DOCTYPE 中>', '<!DOCTYPE>'), ''],
    [filled('<Error ', 'a="" '), ''],
    [filled('', '<a>'), ''],
    [
      `<!DOCTYPE x [<!ENTITY a0 "aaaa">${entities}]><Error><Code>Odd</Code><Message>&a9;</Message></Error>`,
      ' (Odd: &a9;)',
    ],
    ['<Error><Code>Odd</Code><Message><toString>x</toString></Message></Error>', ' (Odd)'],
  ];
  const server = rawServer((socket, request) => {
    const [, index] = /^PUT \/bucket\/(\d+)\//.exec(request) ?? [];
    const [body = ''] = ANSWERS[Number(index) % ANSWERS.length] ?? [];
    socket.end(response('', body, '400 Bad Request'));
  });

  it('are not parsed: a few words are looked for where they begin', async () => {
    const keys = { access_key_id: 'AKIA', secret_access_key: 'a-secret-of-the-attacker' };
    const settings = { endpoint: server.url, region: 'us-east-1', ...keys };
    const sends = await world.unharmed(async () => {
      expect((await world.attacker.api('PUT', '/sends/s3', settings)).status).toBe(200);
      return sendEach(
        world,
        Array.from({ length: UPLOADS }, (_, n) => ['s3', { bucket: 'bucket', prefix: String(n), payload: { n } }]),
      );
    });
    for (const { status, payload, attempts } of sends) {
      const [, said] = ANSWERS[Number((payload as { prefix: string }).prefix) % ANSWERS.length] ?? [];
      const error = `The S3 server answered with the status 400${said}`;
      expect([status, attempts[0]]).toEqual(['pending', expect.objectContaining({ status_code: 400, error })]);
    }
  });
});
