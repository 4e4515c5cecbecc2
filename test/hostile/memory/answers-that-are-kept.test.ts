// isolate: Compressed data as an answer, decoded and kept: buffers that come in from outside count as those made inside.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `
const bytes = await new Response(new Blob([new Uint8Array(4e6)]).stream().pipeThrough(new CompressionStream('gzip'))).bytes();
const kept = [];
for (;;) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  kept.push(await new Response(stream).bytes());
}`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
