// limits: Log lines, each as long as is kept, until they fill the database.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('their bytes count as output, and the run ends at its limit, whatever it catches', async () => {
  await world.limit({ maxRunOutputBytes: 65_536, maxLogLineBytes: 16_384, maxLogLinesPerRun: 10_000 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; i < 500; i++) try { console.log('x'.repeat(20000)) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
  expect(ran.logs.join('').length).toBeLessThanOrEqual(65_536);
  const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
  const limits = runs.body.data[0].logs.map(({ limit }: { limit?: object }) => limit);
  expect(limits).toEqual(Array.from({ length: 4 }, () => ({ name: 'maxLogLineBytes', value: 16_384, used: 20_000 })));
});
