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
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxConnections', value: 3 } });
  // Those that had one of the three connections ran out of time; the others waited for one until they did.
  expect(new Set(ran.events[0])).toEqual(new Set(['fetchTimeoutMs', 'maxConnections']));
  expect(ran.events[0].filter((name: string) => name === 'fetchTimeoutMs').length).toBeGreaterThanOrEqual(3);
  await expect.poll(server.open).toBe(0);
});
