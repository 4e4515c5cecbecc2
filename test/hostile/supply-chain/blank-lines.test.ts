// builder: A megabyte of blank lines, which a search for the word export went through from each line anew.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('is read once', async () => {
  expect(refusedWith(await chain.save('\n'.repeat(1_000_000)))).toContain('export');
});
