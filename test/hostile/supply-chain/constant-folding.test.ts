// builder: A kilobyte of constants that the bundler folds into a string of exabytes.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const members = Array.from({ length: 60 }, (_, i) => `a${i + 1} = a${i} + a${i}`).join(', ');

it('ends at the memory of its process, or at its time on a full machine', async () => {
  const code = `enum Bomb { a0 = 'xxxxxxxxxxxxxxxx', ${members} } export default Bomb.a60;`;
  expect(refusedWith(await chain.save(code))).toMatch(/or takes more than 1024 MB of memory|took longer than 10 s/);
});
