// limits: Eighty components at once by URLs that answer twelve megabytes in twelve kilobytes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { hostileServer, residentBytes } from '../../support/hostile-server.ts';

const world = hostile();
const MB = 2 ** 20;
/** It was three gigabytes. */
const MAX_GROWTH_BYTES = 500 * MB;

const body = gzipSync(Buffer.concat([Buffer.from('//中\n'), Buffer.alloc(12 * MB - 20, 'a;')]));
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-encoding': 'gzip' });
  response.end(body);
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

it('are refused with the limit, at no more memory than code may have', async () => {
  const { pid } = hostileServer();
  const { port } = server.address() as AddressInfo;
  const before = residentBytes(pid);
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, residentBytes(pid))), 20);
  const answers = await world.unharmed(() =>
    Promise.all(
      Array.from({ length: 80 }, () =>
        world.attacker.api('POST', '/components', { component_url: `http://127.0.0.1:${port}/c.mjs` }),
      ),
    ),
  );
  clearInterval(timer);
  const limits = answers.map(({ status, body: { limit } }) => [status, limit?.name, limit?.value]);
  expect([...new Set(limits.map((one) => one.join(' ')))]).toEqual(['400 maxComponentCodeBytes 1048576']);
  expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
});
