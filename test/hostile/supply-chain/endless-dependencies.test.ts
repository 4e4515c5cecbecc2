// builder: A package with thirty thousand dependencies, each of which would be a request to the registry.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is refused before the registry is asked for them', async () => {
  const dependencies = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`needed-${i}`, '*']));
  await chain.publish({ name: 'needy', version: '1.0.0', manifest: { dependencies } });
  expect(refusedWith(await chain.importing('needy'))).toBe(
    'Cannot resolve "needy": it has more than 20000 dependencies',
  );
  expect(chain.registry.requests.filter((path) => path.startsWith('/needed'))).toEqual([]);
});
