// process: A process that has been taken over and says thousands of times that it has started.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';

const world = hostile();

it('is ended at the second, before a program was started for each', async () => {
  const attack = () =>
    runInForgedProcess(`function attack() {
  channel.write(Buffer.concat(Array(20_000).fill(frame(READY, 0))));
}`);
  let ran: Awaited<ReturnType<typeof attack>> | undefined;
  const turnMs = await world.unharmed(() => longestTurnMs(async () => void (ran = await attack())));
  expect(ran?.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(ran?.problems[0]).toContain('A process that becomes ready again');
  expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  // With a program for each: 0.6 s.
  expect(turnMs / slowness()).toBeLessThan(300);
});
