// process: A process that has been taken over and ignores the limits that its isolates are held to.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the node counts again, and ends it', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  for (let i = 0; i < 20_000; i++) send(EMIT, 1, '"x"', META);
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran.host.events.length).toBeLessThanOrEqual(10_000);
  expect(ran.problems[0]).toContain('went over a limit');
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
