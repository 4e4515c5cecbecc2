// isolate: A stream whose queue may be of any length, and is filled.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a buffer there is no room for is the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `new ReadableStream(
  { start: (queue) => { for (;;) queue.enqueue(new Uint8Array(1e6)); } },
  { highWaterMark: 1e9 },
);`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
