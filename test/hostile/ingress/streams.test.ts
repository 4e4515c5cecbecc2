import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

// ingress: Streams of megabytes of events whose client reads none of them.
describe('streams-never-read', () => {
  const world = hostile();
  const STREAMS = 40;

  /** 10 MB a run. */
  const BIG = `export default { name: 'Big', version: '1', props: { http: '$.interface.http' },
  run() { for (let i = 0; i < 10; i++) this.$emit({ i, big: 'x'.repeat(1024 * 1024 - 1024) }); } };`;

  it('costs the server what fits into buffers, one batch a stream', async () => {
    const { attacker, server } = world;
    await world.limit({ maxRunOutputBytes: 12 * 1024 * 1024 });
    const source = await attacker.deploy(BIG);
    for (let i = 0; i < 4; i++) await fetch(source.endpoint, { method: 'POST' });
    const stored = async () => (await attacker.api('GET', `/sources/${source.id}/events?limit=1`)).body.page_info;
    await eventually(async () => (await stored()).total_count === 40);
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const sockets = await Promise.all(Array.from({ length: STREAMS }, () => open(server)));
        for (const socket of sockets) {
          socket.pause();
          socket.write(
            `GET /v1/sources/${source.id}/sse?expand=event HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\n\r\n`,
          );
        }
        await sleep(1_000);
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
        for (const socket of sockets) socket.destroy();
      }),
    );
  });
});

// limits: Hundreds of streams that one account opens at once, and opens again as soon as they are
// refused.
describe('flood-of-streams', () => {
  const world = hostile();
  const CODE = `export default { name: 'Hello', version: '1', props: { http: '$.interface.http' }, run() { this.$emit(1); } };`;

  it('the account has as many as it may, and the neighbour its own', async () => {
    const { attacker, neighbour, server } = world;
    await world.limit({ maxStreams: 20 });
    const [own, theirs] = [await attacker.deploy(CODE), await neighbour.deploy(CODE)];
    const streams: TestEventSource[] = [];
    let refused = 0;
    let attacks = 0;
    await world.unharmed(async () => {
      attacks++;
      for (let round = 0; round < 5; round++) {
        const opened = await Promise.all(
          Array.from({ length: 60 }, () => openEventSource(`${server.url}/v1/sources/${own.id}/sse`, attacker.key)),
        );
        for (const stream of opened) {
          if (stream.status === 200) streams.push(stream);
          else refused += Number(stream.status === 429 && (await stream.text()).includes('maxStreams'));
        }
      }
      const other = await openEventSource(`${server.url}/v1/sources/${theirs.id}/sse`, neighbour.key);
      await fetch(theirs.endpoint, { method: 'POST' });
      // Those of attacks before are sent again.
      await eventually(() => other.messages.length === attacks);
      other.close();
    });
    expect([streams.length, refused]).toEqual([20, attacks * 300 - 20]);
    // Those that have their place hear what comes.
    await fetch(own.endpoint, { method: 'POST' });
    await eventually(() => streams.every(({ messages }) => messages.length === 1));
    for (const stream of streams) stream.close();
  });
});

// ingress: A source that is deleted while clients wait for its answers, so that they would keep
// their connections for ever.
describe('deleted-while-clients-wait', () => {
  const world = hostile();
  const SLOW = `export default { name: 'Slow', version: '1', props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await new Promise((resolve) => setTimeout(resolve, 2_000)); this.http.respond({ status: 200 }); } };`;

  it('each of them is told', async () => {
    const { attacker } = world;
    await world.limit({ maxRunsPerComponent: 1 });
    const statuses = await world.unharmed(async () => {
      const { id, endpoint } = await attacker.deploy(SLOW);
      const clients = Array.from({ length: 5 }, async () => (await fetch(endpoint, { method: 'POST' })).status);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect((await attacker.api('DELETE', `/sources/${id}`)).status).toBeLessThan(300);
      return Promise.all(clients);
    });
    // The one that runs may still answer.
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(4);
  });
});
