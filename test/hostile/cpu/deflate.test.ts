// limits: Deflate at its hardest, on megabytes of two letters.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of the process around the isolate is counted as the run's, and it answers all along", async () => {
  await world.limit({ runCpuMs: 1_500 });
  const ran = await world.unharmed(() =>
    world.attack(
      `const { deflateSync } = process.getBuiltinModule('zlib');
const data = new Uint8Array(10_000_000);
for (let i = 0, x = 1; i < data.length; i++) {
  x ^= x << 13; x ^= x >>> 17; x ^= x << 5;
  data[i] = 97 + (x & 1);
}
for (;;) deflateSync(data, { level: 9 });`,
      { timeoutMs: 60_000 },
    ),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_500 } });
});
