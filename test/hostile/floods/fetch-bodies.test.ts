// limits: Large bodies sent without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('their bytes count together, and the run ends at its limit', async () => {
  await world.limit({ maxUploadBytesPerRun: 100_000, maxFetchRequestBytes: 60_000 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const body = 'x'.repeat(50000);
      for (;;) await fetch('http://10.0.0.1/', { method: 'POST', body }).catch((error) => { if (error.limit) throw error })`),
  );
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxUploadBytesPerRun', value: 100_000, used: 150_000 },
  });
});
