// builder: Twelve packages whose versions need each other so that the tree doubles with every level.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import type { PackageSpec } from '../../support/package-registry.ts';

const chain = supplyChain();
const LEVELS = 12;

/**
 * Each level needs both packages of the next in versions that no other level has asked for: none
 * can be shared.
 */
function packagesOf(level: number): PackageSpec[] {
  return Array.from({ length: 2 ** Math.min(level, 6) }, (_, index) => index).flatMap((version) =>
    ['left', 'right'].map((side) => ({
      name: `${side}-${level}`,
      version: `${version}.0.0`,
      manifest: {
        dependencies: {
          [`left-${level + 1}`]: `${(version * 2) % 64}.0.0`,
          [`right-${level + 1}`]: `${(version * 2 + 1) % 64}.0.0`,
        },
      },
    })),
  );
}

it('is given up at the bound of packages', async () => {
  const levels = Array.from({ length: LEVELS }, (_, level) => packagesOf(level)).flat();
  await chain.publish(...levels);
  expect(refusedWith(await chain.importing('left-0@0.0.0'))).toMatch(
    /it needs more than 1000 packages|no such package/,
  );
});
