import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../shared/src/index.ts';
import { rawServer } from '../../support/hostile-egress.ts';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Large bodies sent without end.
describe('fetch-bodies', () => {
  const world = hostile({ ownAccounts: true });

  it('their bytes count together, and the run ends at its limit', async () => {
    await world.limit({ maxUploadBytesPerRun: 100_000, maxFetchRequestBytes: 60_000 });
    const ran = await world.unharmed(() =>
      world.attack(`
      const body = 'x'.repeat(50000);
      for (;;) await fetch('http://10.0.0.1/', { method: 'POST', body }).catch((error) => { if (error.limit) throw error })`),
    );
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxUploadBytesPerRun', value: 100_000, used: 150_000 },
    });
  });
});

// limits: A request whose body is a stream that never ends.
describe('fetch-body-without-end', () => {
  const world = hostile({ ownAccounts: true });
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
});

// fairness: Runs with as many requests open as one account may have, all of which are answered in
// the same moment, again and again.
describe('fetches-answered-together', () => {
  const world = hostile({ ownAccounts: true });
  const PER_RUN = ACCOUNT_LIMITS.maxFetchesInFlightPerRun.default;
  const TOGETHER = ACCOUNT_LIMITS.maxConnections.default;
  const RUNS = TOGETHER / PER_RUN;
  const ROUNDS = 6;

  let held: ServerResponse[] = [];
  const answerer = createServer((request, response) => {
    request.resume();
    held.push(response);
    if (held.length < TOGETHER) return;
    for (const one of held) one.end('x');
    held = [];
  });

  beforeAll(() => new Promise<void>((resolve) => answerer.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    answerer.closeAllConnections();
    answerer.close();
  });

  it('does not delay other tenants', async () => {
    const { attacker } = world;
    await world.limit({ maxFetchesPerSecond: 10_000 });
    const url = `http://127.0.0.1:${(answerer.address() as AddressInfo).port}/`;
    const code = `export default { name: 'Together', version: '1', async run() {
    const one = async () => (await fetch('${url}')).text();
    for (let round = 0; round < ${ROUNDS}; round++) await Promise.all(Array.from({ length: ${PER_RUN} }, one));
    this.$emit('done');
  } };`;
    const sources = await Promise.all(Array.from({ length: RUNS }, () => attacker.deploy(code)));
    await world.unharmed(async () => {
      const ran = await Promise.all(sources.map(({ id }) => world.run(id)));
      expect(ran.map(({ error, events }) => error ?? events.at(-1))).toEqual(ran.map(() => 'done'));
    });
  });
});

// limits: Requests without end, all at the same time.
describe('fetches-at-once', () => {
  const world = hostile({ ownAccounts: true });

  it('wait for each other, and the first over what a run may make is refused, inside the isolate', async () => {
    await world.limit({ maxFetchesInFlightPerRun: 4, maxFetchesPerRun: 100 });
    const ran = await world.unharmed(() =>
      world.attack(`await Promise.all(Array.from({ length: 10000 }, () => fetch('http://attacked.example/')))`),
    );
    expect(ran.error).toBeDefined();
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxFetchesPerRun', value: 100, used: 101 },
    });
  });
});

// limits: Requests without end, one after the other, to an address that is refused.
describe('fetches-one-by-one', () => {
  const world = hostile({ ownAccounts: true });

  it('the run ends at its limit of requests', async () => {
    await world.limit({ maxFetchesPerRun: 20 });
    const ran = await world.unharmed(() =>
      world.attack(`for (;;) await fetch('http://10.0.0.1/').catch((error) => { if (error.limit) throw error })`),
    );
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxFetchesPerRun', value: 20, used: 21 },
    });
  });
});
