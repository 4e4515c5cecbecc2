// builder: A small tarball with more than a hundred thousand files.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { tar } from '../../support/package-registry.ts';

const chain = supplyChain();

it('is given up at the bound of a build', async () => {
  const entries = Array.from({ length: 1_000 }, (_, i) => ({ path: `package/${i}.js` }));
  // Without the two empty blocks that end an archive, so that another can follow.
  const member = gzipSync(tar(entries).subarray(0, -1_024));
  await chain.publish({
    name: 'crowd',
    version: '1.0.0',
    tarball: Buffer.concat(Array.from({ length: 105 }, () => member)),
  });
  expect(refusedWith(await chain.importing('crowd'))).toMatch(/^Cannot resolve "crowd": crowd@1\.0\.0: .* files$/);
});
