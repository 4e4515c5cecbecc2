// limits: Connections left open at one server after another, each promised to be kept for an hour.
import { expect, it } from 'vitest';
import { fetchEach, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const KEPT = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3600\r\ncontent-length: 2\r\n\r\nok';
const servers = Array.from({ length: 8 }, () => rawServer((socket) => socket.write(KEPT)));

it('make room for new ones: an account has no more than its limit, in use or not', async () => {
  await world.limit({ maxConnections: 2 });
  const ran = await world.unharmed(() =>
    fetchEach(
      world,
      servers.map(({ url }) => url),
    ),
  );
  expect(ran.reached).toHaveLength(8);
  const open = () => servers.reduce((sum, server) => sum + server.open(), 0);
  await expect.poll(open).toBeLessThanOrEqual(2);
});
