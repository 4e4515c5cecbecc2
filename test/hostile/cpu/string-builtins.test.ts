// limits: Builtins of text on long text: repeat, replace, normalize, localeCompare, Intl.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `const text = 'ä\\u0301b'.repeat(1e5);
const collator = new Intl.Collator('de');
for (;;) collator.compare(text.normalize('NFD').replaceAll('b', 'c').toLocaleUpperCase('tr'), text.padEnd(5e5, 'x'));`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
