// builder: A megabyte of nesting, which overflows the bundler's stack and used to end the bundler of the whole node.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it.each([
  ['parentheses', '('.repeat(1_000_000)],
  ['calls', `export default a${'()'.repeat(500_000)}`],
  ['labels', `${'a:'.repeat(500_000)}1`],
])('of %s is refused, and the next component is bundled', async (_, code) => {
  // On a full machine its time ends first.
  expect(refusedWith(await chain.save(code))).toMatch(
    /cannot be bundled: it (?:is nested too deeply|took longer than)/,
  );
});
