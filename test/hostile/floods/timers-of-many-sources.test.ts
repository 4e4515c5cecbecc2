// fairness: Fifteen sources with a hundred timers each, all with an interval of one second: more ticks than a node can fire.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const TIMERS = Array.from(
  { length: 100 },
  (_, i) => `t${i}: { type: '$.interface.timer', default: { intervalSeconds: 1 } }`,
);
const CODE = `export default { name: 'Flood', version: '1', props: { ${TIMERS.join(', ')} }, run() {} };`;
const SOURCES = 15;
const WATCHED_MS = longRun(4_000, 8_000);
/**
 * With all ticks in the order of their time it was three seconds and more, and grew with each
 * source.
 */
const SOON_MS = 2_500;

it('come after the ticks of the neighbour, who has one timer', async () => {
  const { attacker } = world;
  const sources = [];
  for (let made = 0; made < SOURCES; made++) sources.push(await attacker.deploy(CODE));
  const pauseMs = await world.unharmed(() => longestPauseMs(world, () => sleep(WATCHED_MS)));
  for (const { id } of sources) expect((await attacker.api('DELETE', `/sources/${id}`)).status).toBeLessThan(300);
  expect(pauseMs).toBeLessThan(SOON_MS);
});
