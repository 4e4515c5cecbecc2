// limits: zstd at level 22, with a window of a gigabyte asked for.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of the process around the isolate is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const { zstdCompressSync, constants } = process.getBuiltinModule('zlib');
const data = Buffer.from(Array.from({ length: 3e5 }, (_, index) => \`\${index * 7919}\`).join());
const params = { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_windowLog]: 30 };
for (;;) zstdCompressSync(data, { params });`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
