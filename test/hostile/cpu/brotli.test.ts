// limits: Brotli at its hardest, on data that does not compress.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of the process around the isolate is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const { brotliCompressSync } = process.getBuiltinModule('zlib');
const { randomBytes } = process.getBuiltinModule('crypto');
const data = Buffer.concat(Array.from({ length: 100 }, () => randomBytes(60_000)));
for (;;) brotliCompressSync(data);`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
