// egress: Headers without an end: one that never stops, and one after another.
import { expect, it } from 'vitest';
import { fetchEach, flood, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const VALUE = 'v'.repeat(16_384);
const LINES = 'x-a: b\r\n'.repeat(2_048);
const server = rawServer((socket, request) => {
  const isLong = request.startsWith('GET /long');
  socket.write(isLong ? 'HTTP/1.1 200 OK\r\nx-long: ' : 'HTTP/1.1 200 OK\r\n');
  flood(socket, isLong ? VALUE : LINES);
});

it('are given up at the limit of headers', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/long`, `${server.url}/many`]));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseHeaderBytes', value: 16_384 },
  });
  expect(ran.reached).toEqual([]);
  await expect.poll(server.open).toBe(0);
});
