// isolate: 8 kilobytes of gzip that are 8 megabytes, unpacked again and again and kept.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a buffer there is no room for is the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const { gzipSync, gunzipSync } = process.getBuiltinModule('zlib');
const bomb = gzipSync(Buffer.alloc(8e6));
const kept = [];
for (;;) kept.push(gunzipSync(bomb));`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
