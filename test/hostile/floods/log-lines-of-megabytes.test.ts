// limits: Log lines of sixteen megabytes each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a line is cut to its limit inside the isolate, before it goes anywhere, and says so', async () => {
  await world.limit({ runCpuMs: 5_000, maxLogLineBytes: 256, maxRunOutputBytes: 65_536 });
  const ran = await world.unharmed(() =>
    world.attack(
      `const line = 'ü'.repeat(8e6); for (let i = 0; i < 20; i++) console.log(line, i); throw new Error('done')`,
    ),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'done' });
  expect(ran.logs).toHaveLength(20);
  expect(ran.logs.every((line) => Buffer.byteLength(line) <= 256 && line.endsWith('… (cut)'))).toBe(true);
  const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
  for (const { limit } of runs.body.data[0].logs) {
    expect(limit).toMatchObject({ name: 'maxLogLineBytes', value: 256 });
    // Each line was read up to this size.
    expect(limit.used).toBeGreaterThan(65_536);
  }
});
