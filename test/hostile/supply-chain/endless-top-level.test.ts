// limits: Code at the top level of a component that never ends, or never settles, while it is saved.
import { expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();
const component = "export default { name: 'x', version: '1', run() {} };";

it.each([
  ['a loop', `for (;;);\n${component}`],
  ['an endless await', `await new Promise(() => {});\n${component}`],
  ['a chain of microtasks', `await (async () => { for (;;) await 0; })();\n${component}`],
])('with %s is refused, and others are saved', async (_, code) => {
  expect(refusedWith(await chain.save(code))).not.toBe('');
});
