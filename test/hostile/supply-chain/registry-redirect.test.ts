// builder: A registry that redirects to a server of the operator's network, and one that redirects without end.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is not followed to another server, and not for ever', async () => {
  const asked: string[] = [];
  const inner = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  const { port } = inner.address() as AddressInfo;
  await chain.publish({ name: 'away', version: '1.0.0' }, { name: 'round', version: '1.0.0' });
  chain.registry.instead = (path, response) => {
    const location = path.startsWith('/away') ? `http://127.0.0.1:${port}/admin` : path;
    response.writeHead(302, { location }).end();
    return true;
  };
  try {
    expect(refusedWith(await chain.importing('away'))).toContain('the registry redirects to another server');
    expect(refusedWith(await chain.importing('round'))).toContain('the registry redirects more than 3 times');
  } finally {
    chain.registry.instead = undefined;
    await new Promise((resolve) => inner.close(resolve));
  }
  expect(asked).toEqual([]);
});
