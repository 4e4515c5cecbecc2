// fairness: Fifty components of one account at once, all with packages that the registry does not hand out.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('are refused beyond what may wait, and the neighbour saves components meanwhile', async () => {
  await chain.publish({ name: 'held', version: '1.0.0' });
  const { promise, resolve } = Promise.withResolvers<void>();
  chain.registry.hold = promise;
  const saveHeld = (i: number) =>
    chain.world.attacker.api('POST', '/components', { component_code: `import x from 'held'; export default ${i};` });
  const flood = Array.from({ length: 50 }, (_, i) => saveHeld(i));
  const outcome = await chain.deploy("export default { name: 'x', version: '1', run() { this.$emit(1); } };");
  expect(outcome.events).toEqual([1]);
  chain.registry.hold = undefined;
  resolve();
  const answers = await Promise.all(flood);
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 429]));
  // Those that were taken on are all built: half a minute, where other tests need the processors
  // too.
});
