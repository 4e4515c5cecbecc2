// ingress: Streams of megabytes of events whose client reads none of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

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
