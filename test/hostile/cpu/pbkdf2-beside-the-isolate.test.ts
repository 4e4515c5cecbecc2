// limits: PBKDF2 through crypto.subtle, many calls at once: they are worked out on other threads.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of those threads is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
const order = { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 300_000 };
for (;;) await Promise.all(Array.from({ length: 20 }, () => crypto.subtle.deriveBits(order, key, 512)));`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
