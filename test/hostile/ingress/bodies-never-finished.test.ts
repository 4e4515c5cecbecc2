// ingress: Nearly whole bodies on hundreds of connections, to an endpoint and to the API, none of which announces a length or ends.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { exchange, open } from '../../support/hostile-ingress.ts';
import { inTurn } from '../../support/hostile-turn.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
const MAX_BYTES = 128 * 1024 * 1024;
const ATTACKS = sampleCases(
  [
    { bytes: 6_000_000, clients: 26, to: 'api' },
    { bytes: 500_000, clients: 300, to: 'endpoint' },
  ],
  2,
);

it('are kept up to a bound, and those that were begun first are cut off', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  const { pathname } = new URL(endpoint);
  const attack = async () => {
    for (const { bytes, clients, to } of ATTACKS) {
      const path = to === 'api' ? '/v1/webhooks' : pathname;
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ntransfer-encoding: chunked\r\n\r\n`;
      const chunk = Buffer.alloc(bytes, 'x');
      const sockets: Socket[] = [];
      for (let n = 0; n < clients; n++) {
        const socket = await open(server);
        socket.write(`${head}${bytes.toString(16)}\r\n`);
        await new Promise((resolve) => socket.write(chunk, resolve));
        sockets.push(socket);
      }
      const least = clients - Math.ceil(MAX_BYTES / bytes);
      const cutOff = () => sockets.filter(({ closed }) => closed);
      await eventually(() => Promise.resolve(cutOff().length >= least), { what: `${to}: ${least} to be cut off` });
      await sleep(500);
      // On a full machine some bodies wait before they begin, and later ones overtake them.
      const early = sockets.slice(0, 2 * cutOff().length).filter(({ closed }) => closed);
      expect(early.length).toBeGreaterThanOrEqual(cutOff().length / 2);
      expect(cutOff().length).toBeLessThan(clients / 2);
      const whole = `POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(100_000)}`;
      expect((await exchange(server, whole)).statuses).toEqual([200]);
      for (const socket of sockets) socket.destroy();
    }
  };
  await inTurn(world.sql, 'bodies', () => world.unharmed(attack));
});
