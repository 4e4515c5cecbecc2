// limits: More connections than an account may hold, to a server that never answers.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer(() => undefined);

it('are not made', async () => {
  await world.limit({ maxConnections: 3, fetchTimeoutMs: 1_000 });
  const hoard = `
const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => fetch(event.url)));
this.$emit(outcomes.map((outcome) => outcome.reason.limit?.name));
throw outcomes.at(-1).reason;`;
  const ran = await world.unharmed(() => world.attack(hoard, { event: { url: server.url } }));
  // Requests with one of the three connections time out. The others wait for a connection; some get
  // one at the end.
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT' });
  expect(ran.events[0]).toHaveLength(20);
  expect(['fetchTimeoutMs', 'maxConnections']).toEqual(expect.arrayContaining([...new Set(ran.events[0])]));
  expect(ran.events[0].filter((name: string) => name === 'fetchTimeoutMs').length).toBeGreaterThanOrEqual(3);
  // The server may see a new connection before it sees the end of the one it replaces.
  expect(server.most()).toBeLessThanOrEqual(6);
  await expect.poll(server.open).toBe(0);
});
