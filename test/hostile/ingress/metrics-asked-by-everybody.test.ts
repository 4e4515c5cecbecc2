// ingress: /metrics, which needs no key and takes the thread some tens of milliseconds, asked for hundreds of times at once.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('who asks at the same time gets the same text, and the next is not made at once', async () => {
  const { server } = world;
  await world.unharmed(async () => {
    const texts = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const answer = await fetch(`${server.url}/metrics`);
        expect(answer.status).toBe(200);
        return answer.text();
      }),
    );
    // Each text that was made for itself differs in the processor time that it says.
    expect(new Set(texts).size).toBeLessThan(20);
  });
});
