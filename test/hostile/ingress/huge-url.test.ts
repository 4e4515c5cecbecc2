// ingress: A path and a query string of megabytes, in pieces below and above the bound.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();

it('is a 431, and a 404 where it is only long', async () => {
  const { server } = world;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const [length, status] of [
        [30_000, 404],
        [40_000, 431],
        [3_000_000, 431],
      ] as const) {
        for (const url of [
          `/e/${'k'.repeat(length)}`,
          `/v1/${'a/'.repeat(length / 2)}`,
          `/e/x?${'a&'.repeat(length / 2)}`,
        ]) {
          const { statuses } = await exchange(server, `GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
          expect([length, url.slice(0, 6), statuses.filter((found) => found !== status)]).toEqual([
            length,
            url.slice(0, 6),
            [],
          ]);
        }
      }
    }),
  );
});
