// process: A process that has been taken over and sends what are no frames: lengths of gigabytes, parts that overlap, unknown kinds.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is ended at the first of them', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(`function attack() {
  send(EMIT, 1, '1', META);
  channel.write(Buffer.from([255, 255, 255, 127, 1, 2, 3]));
}`),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran.problems[0]).toContain('broke the protocol');
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
});
