// process: A process that has been taken over and speaks of runs that it was never given.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('nobody hears it', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  for (const run of [0, 2, 3, 1000, 4294967295]) {
    send(EMIT, run, '"forged"', META);
    send(DB_SET, run, 'key', '1');
    send(OUTCOME, run, '[1,1]');
  }
  send(EMIT, 1, '"own"', META);
  send(OUTCOME, 1, '[1,1]');
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: true });
  expect(ran.host.data()).toEqual(['own']);
  expect(ran.host.writes).toEqual([]);
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
