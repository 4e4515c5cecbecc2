// limits: A small gzip body that decodes to more than memory holds.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
const server = rawServer((socket) =>
  socket.end(response(`content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n`, BOMB)),
);

it('is given up at the limit of an answer', async () => {
  await world.limit({ maxFetchResponseBytes: 1_000_000 });
  const ran = await world.unharmed(() => fetchEach(world, Array(4).fill(server.url)));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseBytes', value: 1_000_000, used: 1_000_001 },
  });
  expect(ran.reached).toEqual([]);
});
