// limits: Many answers of the full size at once, none of which ever ends: together more than a node has for one account.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const BYTES = 12 * 1024 * 1024;
const server = rawServer((socket) => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BYTES}\r\n\r\n`);
  socket.write(Buffer.alloc(BYTES - 1));
});

const packed = gzipSync(Buffer.alloc(BYTES));
const bomb = rawServer((socket) =>
  socket.end(response(`content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n`, packed)),
);
const OVER = { name: 'maxFetchBytesPerTenant', value: 96 * 1024 * 1024 };

it('are ended where they would hold more than that', async () => {
  await world.limit({ fetchTimeoutMs: 8_000 });
  const hold = `
await Promise.all(Array.from({ length: 12 }, () => fetch(event.url)));`;
  const ran = await world.unharmed(() => world.attack(hold, { event: { url: server.url } }));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: OVER });
  await expect.poll(server.open).toBe(0);
});

it('count as they are decoded', async () => {
  const hold = `
const open = Array.from({ length: 7 }, () => fetch(event.url).catch(() => undefined));
let refused;
// They are read at a pace.
for (let i = 0; refused === undefined && i < 24; i++) {
  await new Promise((done) => setTimeout(done, 250));
  await fetch(event.bomb).catch((error) => { refused = error; });
}
await Promise.all(open);
throw refused;`;
  const ran = await world.unharmed(() => world.attack(hold, { event: { url: server.url, bomb: bomb.url } }));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: OVER });
});
