// limits: A few bytes of brotli that decode to gigabytes.
import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BOMB = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024));
const server = rawServer((socket) =>
  socket.end(response(`content-encoding: br\r\ncontent-length: ${BOMB.length}\r\n`, BOMB)),
);

it('are given up at the limit of an answer', async () => {
  expect(BOMB.length).toBeLessThan(1_000);
  await world.limit({ maxFetchResponseBytes: 1_000_000 });
  const ran = await world.unharmed(() => fetchEach(world, Array(4).fill(server.url)));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseBytes', value: 1_000_000 },
  });
  expect(ran.reached).toEqual([]);
});
