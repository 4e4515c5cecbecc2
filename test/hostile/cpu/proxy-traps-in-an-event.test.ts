// limits: An emitted proxy that always has one more key.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `let keys = 0;
const has = () => ({ value: 1, enumerable: true, configurable: true });
const bottomless = () => new Proxy({}, { ownKeys: () => [\`key\${(keys += 1)}\`], getOwnPropertyDescriptor: has, get: bottomless });
for (;;) try { this.$emit(bottomless()) } catch {}`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
