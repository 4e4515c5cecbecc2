// ingress: Request smuggling by a content length beside chunks, and by disguised transfer encodings.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

const world = hostile();
const FRAMINGS = [
  'content-length: 4\r\ntransfer-encoding: chunked',
  'transfer-encoding: chunked\r\ncontent-length: 4',
  'transfer-encoding: chunked, identity',
  'transfer-encoding: xchunked',
  'transfer-encoding: identity, chunked\r\ntransfer-encoding: x',
  'transfer-encoding : chunked',
  'transfer-encoding: chunked\r\n\tx',
  'transfer-encoding\r\n : chunked',
];

it('one request at most is seen, and the connection ends', async () => {
  const { server } = world;
  await world.unharmed(async () => {
    for (const framing of FRAMINGS) {
      const smuggled = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
      const bytes = `POST /e/x HTTP/1.1\r\nhost: x\r\n${framing}\r\n\r\n0\r\n\r\n${smuggled}`;
      const answer = await exchange(server, bytes);
      expect([framing, answer]).toMatchObject([framing, { statuses: [400], closed: true }]);
    }
  });
});
