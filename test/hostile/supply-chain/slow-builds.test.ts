// fairness: Components that take as long to bundle as one may, again and again, in as many builds as a node does at a time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/** Enough imports to stop the bundler at its time limit. */
const slow = (i: number) => Array.from({ length: 50_000 }, (_, k) => `import'p${i}-${k.toString(36)}';`).join('');
const small = (i: number) => `export default { name: 'Small ${i}', version: '1', run() {} };`;

it('the neighbour saves components beside them, not behind them', async () => {
  const { attacker, neighbour } = world;
  let over = 0;
  await world.unharmed(async () => {
    const flood = Array.from({ length: 2 }, async (_, i) => {
      const { status } = await attacker.api('POST', '/components', { component_code: slow(i) });
      over += 1;
      return status;
    });
    // Both begin at once, where both may.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const { status } = await neighbour.api('POST', '/components', { component_code: small(0) });
    expect(status).toBe(200);
    expect(over).toBe(0);
    expect(await Promise.all(flood)).toEqual([400, 400]);
  });
});
