// builder: A list of versions, and a tarball, that never end.
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');

function pourInto(response: ServerResponse): void {
  const pour = (): void => {
    while (!response.destroyed && response.write(MEGABYTE));
    response.once('drain', pour);
  };
  pour();
}

it('are given up at their bound', async () => {
  await chain.publish({ name: 'list', version: '1.0.0' }, { name: 'archive', version: '1.0.0' });
  chain.registry.instead = (path, response) => {
    if (path === '/archive') return false;
    pourInto(response);
    return true;
  };
  try {
    expect(refusedWith(await chain.importing('list'))).toContain('it is larger than 67108864 bytes');
    expect(refusedWith(await chain.importing('archive'))).toContain('archive@1.0.0: it is larger than 67108864 bytes');
  } finally {
    chain.registry.instead = undefined;
  }
});
