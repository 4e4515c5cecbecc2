// egress: A zstd body of a few bytes whose header asks for a window of 2 GB.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
/**
 * Magic number, a frame without a size, a window descriptor, one raw block of one byte that is the
 * last.
 */
const frame = (windowLog: number) =>
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (windowLog - 10) << 3, 0x09, 0x00, 0x00, 0x61]);
const server = rawServer((socket, request) => {
  const body = frame(Number(/^GET \/(\d+)/.exec(request)?.[1]));
  socket.end(response(`content-encoding: zstd\r\ncontent-length: ${body.length}\r\n`, body));
});

it('is not given one larger than 8 MB', async () => {
  const urls = [20, 23, 24, 27, 31].map((log) => `${server.url}/${log}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.reached).toEqual(urls.slice(0, 2).map((url) => ({ url, status: 200 })));
  expect(ran.error).toMatchObject(refusedRun(/is not valid zstd/));
});
