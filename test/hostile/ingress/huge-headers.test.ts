// ingress: Megabytes of one header, to an endpoint and to the API.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';

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
