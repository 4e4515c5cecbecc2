import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { fetchEach, flood, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Many answers of the full size at once, none of which ever ends: together more than a
// node has for one account.
describe('bodies-held-at-once', () => {
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
});

// limits: Answers that are a byte too large, or given up before their end, or redirects with a
// body: none of them reaches the code.
describe('bodies-that-count-for-nothing', () => {
  const world = hostile();
  const BODY = 'x'.repeat(400_000);
  const MOST = 2_000_000;
  const server = rawServer((socket, request) => {
    const redirect = request.startsWith('GET /redirects') ? 'location: /too-large\r\n' : '';
    socket.end(response(redirect, BODY, redirect === '' ? '200 OK' : '302 Found'));
  });
  const wastes = () => `
  for (let n = 0; n < 20; n++) {
    const path = n % 2 === 0 ? '/too-large' : '/redirects';
    try { await fetch('${server.url}' + path) } catch (error) { if (error.limit?.name === 'maxDownloadBytesPerRun') throw error; }
  }`;
  const OVER = { code: 'RESOURCE_LIMIT', limit: { name: 'maxDownloadBytesPerRun', value: MOST } };

  it('count for what a run may receive, of a source and of a step', async () => {
    await world.limit({ maxFetchResponseBytes: 399_999, maxDownloadBytesPerRun: MOST });
    const { ran, failed } = await world.unharmed(async () => {
      const flow = await makeWorkflow(world.attacker, { steps: [wastes()] });
      const started = await world.attacker.api('POST', `/workflows/${flow.id}/run`, {});
      const path = `/executions/${started.body.data.execution_id}`;
      const execution = await eventually(async () => {
        const { body } = await world.attacker.api('GET', path);
        return body.data?.status === 'failed' && body.data;
      });
      return { ran: await world.attack(wastes()), failed: execution.error };
    });
    expect(ran.error).toMatchObject(OVER);
    expect(failed).toMatchObject(OVER);
  });
});

// limits: A few bytes of brotli that decode to gigabytes.
describe('brotli-bomb', () => {
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
});

// limits: A small gzip body that decodes to more than memory holds.
describe('gzip-bomb', () => {
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
});

// egress: A zstd body of a few bytes whose header asks for a window of 2 GB.
describe('zstd-window', () => {
  const world = hostile();
  /**
   * Magic number, a frame without a size, a window descriptor, one raw block of one byte that is
   * the last.
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
});

// limits: A body compressed several times over, each layer a bomb of its own, and codings named as
// what every object has.
describe('nested-encodings', () => {
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
});

// limits: An answer whose body has no end.
describe('endless-body', () => {
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
});
