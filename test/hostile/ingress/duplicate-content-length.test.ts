// ingress: Request smuggling by two content lengths, or by one that is no number.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

const world = hostile();
const LENGTHS = [
  'content-length: 5\r\ncontent-length: 60',
  'content-length: 5, 60',
  'content-length: +5',
  'content-length: 0x5',
  'content-length: -1',
  'content-length: 5 5',
  'content-length: 5;x',
  `content-length: ${'9'.repeat(30)}`,
];

it('is a 400, and what follows is never taken for a request', async () => {
  const { server } = world;
  await world.unharmed(async () => {
    for (const lengths of LENGTHS) {
      const bytes = `POST /e/x HTTP/1.1\r\nhost: x\r\n${lengths}\r\n\r\nhelloGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`;
      expect([lengths, await exchange(server, bytes)]).toMatchObject([lengths, { statuses: [400], closed: true }]);
    }
  });
});
