// isolate: Every clock there is, read in a loop for its smallest step, as attacks on caches and branch predictors need it.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('none is finer than a millisecond', async () => {
  const emitted = await emitsOf(
    world,
    `const { performance: hooks } = process.getBuiltinModule('perf_hooks');
const clocks = {
  date: () => Date.now(), newDate: () => +new Date(), performance: () => performance.now(), hooks: () => hooks.now(),
  hrtime: () => { const [s, ns] = process.hrtime(); return s * 1e3 + ns / 1e6; }, bigint: () => Number(process.hrtime.bigint()) / 1e6,
  uptime: () => process.uptime() * 1e3, cpu: () => process.cpuUsage().user / 1e3, event: () => new Event('x').timeStamp,
  mark: () => performance.mark('x').startTime,
};
const steps = {};
for (const [name, read] of Object.entries(clocks)) {
  let last = read();
  let smallest = Infinity;
  for (let i = 0, until = Date.now() + 12; Date.now() < until || i < 10; i++) {
    const now = read();
    if (now !== last) smallest = Math.min(smallest, Math.abs(now - last));
    last = now;
  }
  if (smallest < 0.999) steps[name] = smallest;
}
this.$emit(steps);`,
  );
  expect(emitted).toEqual([{}]);
});
