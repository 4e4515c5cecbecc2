// limits: Deep, wide and cyclic objects given to console.log, over and over.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('formatting is cut short, the lines say so, and the run ends at a limit', async () => {
  await world.limit({ runCpuMs: 3_000, maxRunOutputBytes: 65_536, maxLogLineBytes: 4_096 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const wide = Array.from({ length: 1e5 }, (_, i) => ({ i }));
      let deep = { wide };
      for (let i = 0; i < 1e4; i++) deep = { deep, again: deep, wide };
      const cyclic = { deep, wide }; cyclic.self = cyclic; wide[0] = cyclic;
      const table = Object.fromEntries(wide.slice(1, 300).map((row, i) => ['column'.repeat(12) + i, row]));
      for (;;) try { console.log(table, cyclic, wide, deep) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 3_000 } });
  expect(ran.logs.join('').length).toBeLessThanOrEqual(65_536);
  expect(ran.logs).not.toEqual([]);
  const runs = await world.attacker.api('GET', `/sources/${ran.sourceId}/runs`);
  for (const { message, limit } of runs.body.data[0].logs) {
    expect(message).toMatch(/… \(cut\)$/);
    expect(limit).toMatchObject({ name: 'maxLogLineBytes', value: 4_096 });
    expect(limit.used).toBeGreaterThan(4_096);
  }
});
