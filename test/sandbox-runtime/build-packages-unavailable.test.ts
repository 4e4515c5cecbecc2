import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createBuilder } from '@headwater/sandbox-runtime';
import { buildKitForFile, oneFile } from '../support/build-kit.ts';

/* A registry that does not work is no fault of the code. */

const kit = buildKitForFile();
const importing = (name: string) => `import found from '${name}'; export default found;`;

/** Replaces the registry's answers for paths that end with `end`. */
function answering(end: string, answer: (response: ServerResponse) => void): void {
  kit.registry.instead = (asked, response) => {
    if (!asked.endsWith(end)) return false;
    answer(response);
    return true;
  };
  onTestFinished(() => void (kit.registry.instead = undefined));
}

const unavailable = (reason: string) => ({
  code: 'UNAVAILABLE',
  message: `The packages of the component cannot be had at the moment: ${reason}`,
  retryAfterSeconds: 10,
});

test.each<[string, (response: ServerResponse) => void, string]>([
  ['fails', (response) => response.writeHead(503).end(), 'the registry answered with status 503'],
  ['has had enough', (response) => response.writeHead(429).end(), 'the registry answered with status 429'],
  [
    'breaks off',
    (response) => response.writeHead(200, { 'content-length': 9 }).write('{'),
    'the registry broke off its answer',
  ],
  ['answers a page', (response) => response.end('<html>'), 'the registry answered with something that is not JSON'],
  ['hangs up', (response) => response.destroy(), 'the registry cannot be reached (UND_ERR_SOCKET)'],
])('a registry that %s makes the build wait for another time', async (what, answer, reason) => {
  const name = what.replaceAll(' ', '-');
  kit.registry.add({ name, version: '1.0.0' });
  answering(`/${name}`, (response) => {
    answer(response);
    if (!response.writableEnded) setTimeout(() => response.destroy(), 50);
  });
  await expect(kit.build(importing(name))).rejects.toMatchObject(unavailable(reason));
  kit.registry.instead = undefined;
  expect(await kit.load(importing(name))).toBe(`${name}@1.0.0`);
});

test('a tarball that cannot be had at the moment is no fault of the code either', async () => {
  kit.registry.add({ name: 'listed', version: '1.0.0' });
  answering('.tgz', (response) => response.writeHead(502).end());
  await expect(kit.build(importing('listed'))).rejects.toMatchObject(
    unavailable('the registry answered with status 502'),
  );
});

test('a registry that does not listen', async () => {
  const cacheDir = await mkdtemp(path.join(tmpdir(), 'headwater-packages-'));
  const logged: unknown[] = [];
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const builder = createBuilder({
    cacheDir,
    registryUrl: `http://127.0.0.1:${port}/`,
    log: (level, message, fields) => logged.push([level, message, fields]),
  });
  try {
    const reason = 'the registry cannot be reached (ECONNREFUSED)';
    const build = builder.build({ tenantId: 'o_test', component: oneFile(importing('any')) });
    await expect(build).rejects.toMatchObject(unavailable(reason));
    expect(logged).toContainEqual(['warn', 'The packages of a component cannot be had', { reason }]);
  } finally {
    await builder.stop();
    await rm(cacheDir, { recursive: true });
  }
});

test.each([
  [404, 'there is no such package in the registry'],
  [403, 'the registry answered with status 403'],
])('the answer of a registry with status %i reaches the author', async (status, reason) => {
  answering('/refused', (response) => response.writeHead(status).end());
  expect(await kit.build(importing('refused'))).toMatchObject({
    ok: false,
    errors: [{ message: `Cannot resolve "refused": ${reason}`, line: 1 }],
  });
});
