// builder: A registry's list that names an address on the server's own network as the place of a tarball.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is fetched at the registry, and nobody else is asked', async () => {
  const asked: string[] = [];
  const inner = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  const { port } = inner.address() as AddressInfo;
  const places = [`http://127.0.0.1:${port}/elsewhere-1.0.0.tgz`, 'file:///etc/elsewhere-1.0.0.tgz'];
  try {
    for (const [index, tarball] of places.entries()) {
      await chain.publish({ name: `elsewhere-${index}`, version: '1.0.0', dist: { tarball } });
      const { refused, events } = await chain.importing(`elsewhere-${index}`);
      expect(refused?.errors[0]?.message ?? events[0].found).toMatch(/elsewhere-\d@1\.0\.0/);
    }
  } finally {
    await new Promise((resolve) => inner.close(resolve));
  }
  expect(asked).toEqual([]);
});
