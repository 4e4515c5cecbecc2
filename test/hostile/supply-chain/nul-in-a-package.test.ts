// builder: A package with a NUL character in a regular expression, which the bundler leaves as it is and the database refuses.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is an error of the component, not one of the server', async () => {
  await chain.publish({ name: 'nul', version: '1.0.0', files: { 'index.js': 'module.exports = String(/a\0b/);' } });
  expect(refusedWith(await chain.importing('nul'))).toBe('The code with its packages contains a NUL character');
});
