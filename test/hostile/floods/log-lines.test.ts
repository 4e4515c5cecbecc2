// limits: Log lines without end, from a loop that never yields.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('lines beyond the limit are dropped, the last one says so, and the loop ends at its CPU time', async () => {
  await world.limit({ runCpuMs: 300, maxLogLinesPerRun: 50 });
  const ran = await world.unharmed(() => world.attack(`for (let i = 0; ; i++) console.log('line', i)`));
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
  expect(ran.logs).toHaveLength(51);
  expect(ran.logs.at(-1)).toBe('Further log lines are dropped; the limit maxLogLinesPerRun is 50');
  const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
  const limits = runs.body.data[0].logs.map(({ limit }: { limit?: object }) => limit);
  expect(limits).toEqual([...Array(50), { name: 'maxLogLinesPerRun', value: 50, used: 51 }]);
});
