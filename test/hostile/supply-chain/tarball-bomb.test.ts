// builder: A tarball of 400 kilobytes that unpacks to more than 400 megabytes.
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is given up at the bound of a build', async () => {
  const member = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const tarball = Buffer.concat(Array.from({ length: 52 }, () => member));
  expect(tarball.length).toBeLessThan(500_000);
  await chain.publish({ name: 'bomb', version: '1.0.0', tarball });
  expect(refusedWith(await chain.importing('bomb'))).toBe(
    'Cannot resolve "bomb": bomb@1.0.0: it is too large unpacked',
  );
});
