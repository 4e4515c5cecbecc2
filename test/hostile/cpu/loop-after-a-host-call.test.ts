// limits: A loop after an answer of the platform: a request, a hash and a read of the store.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `await fetch('http://127.0.0.1:1/').catch(() => {});
await crypto.subtle.digest('SHA-256', new Uint8Array(8));
this.db.get('key');
for (;;);`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
