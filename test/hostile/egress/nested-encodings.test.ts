// limits: A body compressed several times over, each layer a bomb of its own, and codings named as what every object has.
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const ONE = gzipSync(Buffer.alloc(64 * 1024 * 1024));
const LAYERS = { 1: ONE, 2: deflateSync(ONE), 3: gzipSync(deflateSync(ONE)) } as const;
const CODINGS = { 1: 'gzip', 2: 'gzip, deflate', 3: 'gzip, deflate, gzip' } as const;
const server = rawServer((socket, request) => {
  const [, count = '1'] = /^GET \/(\d+)/.exec(request) ?? [];
  const layers = Number(count) as 1 | 2 | 3;
  const coding = CODINGS[layers] ?? Array(Number(count)).fill('gzip').join(', ');
  socket.end(response(`content-encoding: ${coding}\r\n`, LAYERS[layers] ?? ONE));
});
const named = rawServer((socket, request) => {
  const [, coding = ''] = /^GET \/(\w+)/.exec(request) ?? [];
  socket.end(response(`content-encoding: ${coding}\r\n`, Buffer.from('plain')));
});

it('is given up at the limit, and beyond three layers left as it is', async () => {
  await world.limit({ maxFetchResponseBytes: 1_000_000 });
  const urls = [100, 4, 1, 2, 3].map((layers) => `${server.url}/${layers}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.reached.map(({ url }) => url)).toEqual(urls.slice(0, 2));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseBytes', value: 1_000_000 },
  });
});

it('a coding that is a name of Object.prototype is unknown like any other', async () => {
  const urls = ['constructor', '__proto__'].map((name) => `${named.url}/${name}`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toBeUndefined();
  expect(ran.reached.map(({ url }) => url)).toEqual(urls);
});
