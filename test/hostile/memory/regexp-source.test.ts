// isolate: Regular expressions of megabytes, compiled and kept.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time, long before they have filled the memory', async () => {
  await world.limit({ memoryMb: 32, runCpuMs: 500 });
  const ran = await world.unharmed(() =>
    world.attack(`
const kept = [];
for (let i = 0; ; i++) {
  const pattern = new RegExp('(?:' + ('a' + i + '|').repeat(1e5) + ')');
  pattern.test('b');
  kept.push(pattern);
}`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
  expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(500);
});
