// limits: A request whose body is a stream that never ends.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer(() => undefined);

it('is read in the isolate, at the cost of its memory, and the request is never made', async () => {
  const ran = await attackMemory(
    world,
    `const chunk = new Uint8Array(1e6);
const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk.slice()) });
await fetch('${server.url}', { method: 'POST', body, duplex: 'half' });`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
  expect(server.connections()).toBe(0);
});
