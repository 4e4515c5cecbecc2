// limits: An answer whose body has no end.
import { expect, it } from 'vitest';
import { fetchEach, flood, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CHUNK = Buffer.alloc(64 * 1024);
const server = rawServer((socket) => {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  flood(socket, CHUNK);
});

it('is cut off at the limit, and its connection closed', async () => {
  await world.limit({ maxFetchResponseBytes: 1_000_000 });
  const ran = await world.unharmed(() => fetchEach(world, Array(3).fill(server.url)));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseBytes', value: 1_000_000 },
  });
  expect(ran.error?.limit?.used).toBeGreaterThan(1_000_000);
  expect(ran.reached).toEqual([]);
  await expect.poll(server.open).toBe(0);
});
