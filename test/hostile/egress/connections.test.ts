import { describe, expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

// limits: More connections than an account may hold, to a server that never answers.
describe('connection-hoarding', () => {
  const world = hostile();
  const server = rawServer(() => undefined);

  it('are not made', async () => {
    await world.limit({ maxConnections: 3, fetchTimeoutMs: 1_000 });
    const hoard = `
const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => fetch(event.url)));
this.$emit(outcomes.map((outcome) => outcome.reason.limit?.name));
throw outcomes.at(-1).reason;`;
    const ran = await world.unharmed(() => world.attack(hoard, { event: { url: server.url } }));
    // Requests with one of the three connections time out. The others wait for a connection; some
    // get one at the end.
    expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT' });
    expect(ran.events[0]).toHaveLength(20);
    expect(['fetchTimeoutMs', 'maxConnections']).toEqual(expect.arrayContaining([...new Set(ran.events[0])]));
    expect(ran.events[0].filter((name: string) => name === 'fetchTimeoutMs').length).toBeGreaterThanOrEqual(3);
    // The server may see a new connection before it sees the end of the one it replaces.
    expect(server.most()).toBeLessThanOrEqual(6);
    await expect.poll(server.open).toBe(0);
  });
});

// limits: Connections left open at one server after another, each promised to be kept for an hour.
describe('idle-connections', () => {
  const world = hostile();
  const KEPT = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3600\r\ncontent-length: 2\r\n\r\nok';
  const servers = Array.from({ length: 8 }, () => rawServer((socket) => socket.write(KEPT)));

  it('make room for new ones: an account has no more than its limit, in use or not', async () => {
    await world.limit({ maxConnections: 2 });
    const ran = await world.unharmed(() =>
      fetchEach(
        world,
        servers.map(({ url }) => url),
      ),
    );
    expect(ran.reached).toHaveLength(8);
    const open = () => servers.reduce((sum, server) => sum + server.open(), 0);
    await expect.poll(open).toBeLessThanOrEqual(2);
  });
});

// limits: A scan of the ports of a host, as fast as a component can ask.
describe('port-scan', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 0\r\n')));

  it('is slowed down to the rate of the account', async () => {
    await world.limit({ maxFetchesPerSecond: 1, fetchTimeoutMs: 1_000 });
    // The first that has to wait may have its turn right before its time is over; the last never
    // has one.
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
});
