// process: A process that has been taken over and reports a code that is not its to report.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is ended, and the code is not believed', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  send(OUTCOME, 1, JSON.stringify([1, 1, 'RUN_ABANDONED', true]), 'm', '');
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran.problems[0]).toContain('a code that is none of its own');
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
