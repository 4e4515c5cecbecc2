// limits: A server that takes the request and says next to nothing.
import { expect, it } from 'vitest';
import { drip, fetchEach, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => {
  socket.write('H');
  drip(socket, '');
});

it('ends at the timeout of a request, and its connection is closed', async () => {
  await world.limit({ fetchTimeoutMs: 1_000 });
  const ran = await world.unharmed(() => fetchEach(world, [server.url]));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
  expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(1_000);
  await expect.poll(server.open).toBe(0);
});
