// builder: A package of a few kilobytes packed that makes a bundle of twenty-six megabytes.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is refused by its size and the limit', async () => {
  const files = {
    'index.js': "module.exports = require('./large.json');",
    'large.json': `"${'x'.repeat(26_000_000)}"`,
  };
  await chain.publish({ name: 'large', version: '1.0.0', files });
  const answer = await chain.importing('large');
  expect(refusedWith(answer)).toMatch(
    /^The component is 26\d{6} bytes when it is bundled; the limit maxBundleBytes is 25165824 bytes$/,
  );
  expect(answer.refused?.limit).toEqual({ name: 'maxBundleBytes', value: 25_165_824, used: expect.any(Number) });
});
