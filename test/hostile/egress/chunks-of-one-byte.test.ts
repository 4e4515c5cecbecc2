// limits: Bodies in chunks of one byte, each with 64 KB of extension or without, in answers to requests and to deliveries.
import { expect, it } from 'vitest';
import { deliverOnce, fetchEach, flood, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const PADDED = `1;${'a'.repeat(65_500)}\r\nx\r\n`;
const BARE = '1\r\nx\r\n'.repeat(10_000);
let [written, ended] = [0, 0];
const server = rawServer((socket, request) => {
  socket.on('close', () => {
    written += socket.bytesWritten;
    ended += 1;
  });
  socket.write(HEAD);
  flood(socket, request.includes('/padded ') ? PADDED : BARE);
});
/** Bytes of each connection that the network may buffer without a reader. */
const IN_TRANSIT = 16 * 1024 * 1024;

it('with extensions are ended before they are read by the megabyte', async () => {
  await world.unharmed(async () => {
    [written, ended] = [0, 0];
    const ran = await fetchEach(world, Array(4).fill(`${server.url}/padded`));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(/the limit maxFetchFramingBytes is 524 288/);
    await expect.poll(() => ended).toBe(4);
    expect(written).toBeLessThan(4 * IN_TRANSIT);
  });
});

it('without are ended where they have cost as much as the largest answers together', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/bare`]));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxFetchBytesPerTenant' } });
  await expect.poll(server.open).toBe(0);
});

it('of receivers are left, and the status counts', async () => {
  for (const kind of ['padded', 'bare']) {
    const attempt = await world.unharmed(() => deliverOnce(world, `${server.url}/${kind}`));
    expect(attempt).toMatchObject({ status_code: 200, response: expect.stringMatching(/^x+$/) });
  }
  await expect.poll(server.open).toBe(0);
});
