// ingress: Bodies that never end, in half a million chunks of one byte each, to an endpoint and to the API.
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { exchange, open, withinMemory } from '../../support/hostile-ingress.ts';
import { inTurn } from '../../support/hostile-turn.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
const CLIENTS = 6;
// Kept one by one, those of all clients would be one and a half gigabytes.
const CHUNKS = '1\r\na\r\n'.repeat(480_000);
// The chunks count as 1.5 GB, of which 128 MB may be held. Seconds pass between two cut-offs.
const LEAST_CUT_OFF = 2;
// Another attack may hold as many body bytes as the limit allows at the same time.
const GROWTH_BYTES = 512 * 1024 * 1024;

it.each(sampleCases(['api', 'endpoint'], 2))(
  'take no more memory than they count in an %s, and those begun first are cut off',
  async (to) => {
    const { attacker, server } = world;
    const { pathname } = new URL((await attacker.deploy(BIN)).endpoint);
    const path = to === 'api' ? '/v1/webhooks' : pathname;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const attack = async () => {
      const sockets: Socket[] = [];
      for (let n = 0; n < CLIENTS; n++) sockets.push(await open(server));
      for (const socket of sockets) socket.write(head + CHUNKS);
      const cutOff = () => sockets.filter(({ closed }) => closed);
      await eventually(() => Promise.resolve(cutOff().length >= LEAST_CUT_OFF), {
        what: 'some to be cut off',
        timeoutMs: 60_000,
      });
      expect(cutOff().length).toBeLessThan(CLIENTS);
      // On a full machine the second body may begin before the first.
      const early = sockets.slice(0, cutOff().length + 1).filter(({ closed }) => closed);
      expect(early).toHaveLength(cutOff().length);
      const few = `POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`;
      expect((await exchange(server, few, { timeoutMs: 30_000 })).statuses).toEqual([200]);
      for (const socket of sockets) socket.destroy();
    };
    await inTurn(world.sql, 'bodies', () => world.unharmed(() => withinMemory(server, attack, GROWTH_BYTES)));
  },
);
