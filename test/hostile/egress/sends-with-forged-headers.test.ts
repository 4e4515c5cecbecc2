// egress: Line breaks, framing headers and another host in the headers of `$.send.http`.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';

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
