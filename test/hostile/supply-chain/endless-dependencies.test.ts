// builder: A package with thirty thousand dependencies, and a component with thousands of imports, each a request to the registry.
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

it('is refused where the component itself imports too many, before any is looked at', async () => {
  const code = Array.from({ length: 1_001 }, (_, i) => `import'needed-${i}@1.0.0-${i}';`).join('');
  expect(refusedWith(await chain.save(`${code}export default {};`))).toBe(
    'The component imports 1001 packages; at most 1000 are allowed',
  );
  expect(chain.registry.requests.filter((path) => path.startsWith('/needed'))).toEqual([]);
});
