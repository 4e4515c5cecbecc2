// egress: Answers that break the protocol: bad chunks, contradicting lengths, an upgrade nobody asked for, no HTTP at all.
import { expect, it } from 'vitest';
import { fetchEach, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

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
  `${OK}x-a: b\0c\r\n\r\n`,
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
