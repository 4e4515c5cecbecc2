// process: A process that has been taken over and goes on about a run after it has reported its end.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the first end counts, and nothing after it', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  send(EMIT, 1, '1', META);
  send(OUTCOME, 1, '[1,1]');
  send(EMIT, 1, '2', META);
  send(DB_SET, 1, 'key', '1');
  send(OUTCOME, 1, JSON.stringify([1, 1, 'CPU_LIMIT', false]), 'm', '');
  send(DESCRIBED, 1, '{}');
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: true });
  expect(ran.host.data()).toEqual([1]);
  expect(ran.host.writes).toEqual([]);
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
