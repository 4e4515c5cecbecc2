// builder: Version ranges that take a reader of ranges hours, in an import string and in a package.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

const RANGES: Record<string, string> = {
  spaces: `>${' '.repeat(50_000)}<`,
  alternatives: Array.from({ length: 20_000 }, (_, i) => `^${i}`).join('||'),
  digits: `^${'9'.repeat(50_000)}.0.0`,
  prerelease: `^1.0.0-${'a.'.repeat(30_000)}`,
};

it('of a package are refused for their length', async () => {
  const names = Object.keys(RANGES);
  for (const name of names)
    await chain.publish({ name, version: '1.0.0', manifest: { dependencies: { other: RANGES[name] } } });
  for (const reason of await chain.refusals(...names))
    expect(reason).toContain('only versions in the registry can be used');
});

it('of an import are refused for their length', async () => {
  for (const reason of await chain.refusals(...Object.values(RANGES).map((range) => `other@${range}`)))
    expect(reason).toContain('it has more than 1024 characters');
});
