// ingress: /metrics, which needs no key and takes the thread some tens of milliseconds, asked for hundreds of times at once.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('who asks at the same time gets the same text, and the next is not made at once', async () => {
  const { server } = world;
  await useEveryRoute(server.url);
  await world.unharmed(async () => {
    const texts = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const answer = await fetch(`${server.url}/metrics`, { headers: { 'accept-encoding': 'identity' } });
        expect(answer.status).toBe(200);
        return answer.text();
      }),
    );
    // Each text that was made for itself differs in the processor time that it says.
    expect(new Set(texts).size).toBeLessThan(20);
  });
});

/**
 * A server that has been used for long has figures of all its routes: a text of hundreds of
 * kilobytes.
 */
async function useEveryRoute(url: string): Promise<void> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const asked = Object.entries(paths).map(async ([path, methods]) => {
    for (const method of Object.keys(methods)) {
      const answer = await fetch(url + path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
      await answer.arrayBuffer();
    }
  });
  await Promise.all(asked);
  expect((await (await fetch(`${url}/metrics`)).text()).length).toBeGreaterThan(100_000);
}
