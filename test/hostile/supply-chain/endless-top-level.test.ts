// limits: Code at the top level of a component that never ends, or never settles, while it is saved.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import { sampleCases } from '../../support/long-run.ts';

const chain = supplyChain();
const component = "export default { name: 'x', version: '1', run() {} };";

// A loop is in ../cpu/loop-while-loading.test.ts too.
it.each(
  sampleCases(
    [
      ['a chain of microtasks', `await (async () => { for (;;) await 0; })();\n${component}`],
      ['a loop', `for (;;);\n${component}`],
    ] as const,
    2,
  ),
)('with %s is refused at a limit of loading, and others are saved', async (_, code) => {
  const saved = await chain.save(code);
  // On a busy machine the time is over before that much of it was the component's.
  const name = saved.refused?.limit?.name === 'describeWallMs' ? 'describeWallMs' : 'describeCpuMs';
  expect(saved.refused?.limit).toEqual({ name, value: LIMITS[name], used: expect.any(Number) });
  expect(saved.refused?.limit?.used).toBeGreaterThanOrEqual(LIMITS[name]);
  expect(refusedWith(saved)).toContain(`the limit ${name} is`);
});

it('with an endless await is refused as soon as nothing is left that could settle it', async () => {
  const saved = await chain.save(`await new Promise(() => {});\n${component}`);
  expect(saved.refused?.limit).toBeUndefined();
  expect(refusedWith(saved)).toBe(
    'The component failed to load: The component did not finish loading: a top-level await was never settled',
  );
});
