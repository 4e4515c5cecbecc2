// ingress: Speaking HTTP/2, TLS, a proxy protocol, SOCKS, Postgres and noise to the port.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

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
