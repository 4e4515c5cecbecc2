// egress: Answers of an S3 server that take an XML parser seconds each: 64 KB of doctypes, thousands of attributes, entities in entities.
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

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
