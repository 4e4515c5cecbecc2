// bridge: Error.stackTraceLimit without bound at the bottom of a deep recursion, and stacks that are no text.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the error arrives with a stack that is cut', async () => {
  const deep = await world.unharmed(() =>
    world.attack(`
Error.stackTraceLimit = Infinity;
const down = (left) => { if (left === 0) throw new Error('bottom'); down(left - 1); };
down(5000);`),
  );
  expect(deep.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'bottom' });
  expect(deep.error?.stack?.length).toBeLessThan(10_000);
  const odd = await world.unharmed(() =>
    world.attack(`Error.prepareStackTrace = () => ({ not: 'text' }); throw new Error('odd');`),
  );
  expect(odd.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'odd' });
});
