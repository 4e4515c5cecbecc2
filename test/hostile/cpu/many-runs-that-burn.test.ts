// fairness: A dozen runs at the same time, each of which burns all of its CPU time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('each ends at its limit, and the neighbour is served meanwhile', async () => {
  await world.limit({ runCpuMs: 200 });
  const errors = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(
      `export default { name: 'Burn', version: '1', async run() { await null; for (;;); } };`,
    );
    const runs = await Promise.all(Array.from({ length: 12 }, () => world.run(id)));
    return runs.map((run) => run.error);
  });
  expect(errors).toHaveLength(12);
  for (const error of errors) {
    expect(error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 200 } });
    expect(error?.limit?.used).toBeGreaterThanOrEqual(200);
  }
});
