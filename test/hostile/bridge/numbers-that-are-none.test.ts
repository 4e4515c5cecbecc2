// process: A process that has been taken over and reports times below nothing and beyond everything.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is ended, and the numbers go nowhere', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  send(OUTCOME, 1, '[-1e300,1e300]');
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
