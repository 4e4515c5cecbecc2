// limits: A scan of the ports of a host, as fast as a component can ask.
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')));

it('is slowed down to the rate of the account', async () => {
  await world.limit({ maxFetchesPerSecond: 1, fetchTimeoutMs: 1_000 });
  // The first that has to wait may have its turn right before its time is over; the last never has
  // one.
  const scan = `
const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => fetch(event.url)));
this.$emit({ made: outcomes.filter((outcome) => outcome.status === 'fulfilled').length });
throw outcomes.findLast((outcome) => outcome.status === 'rejected')?.reason;`;
  const ran = await world.unharmed(() => world.attack(scan, { event: { url: server.url } }));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxFetchesPerSecond', value: 1 } });
  expect(ran.error?.limit?.used).toBeGreaterThan(1);
  // The burst of ten seconds, and the requests of one or two more.
  expect(ran.events[0].made).toBeLessThan(15);
  expect(server.connections()).toBeGreaterThanOrEqual(ran.events[0].made);
});
