// ingress: Bodies announced as large that arrive a byte at a time, to an endpoint and to the API.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 200;
const ROUNDS = 8;
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

it('nothing is run, and nothing is reserved for what has not arrived', async () => {
  const { attacker, server, sql } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  const paths = [new URL(endpoint).pathname, '/v1/sources'];
  const head = (path: string | undefined) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n`;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
      for (const [n, socket] of sockets.entries()) socket.write(head(paths[n % 2]));
      for (let round = 0; round < ROUNDS; round++) {
        for (const socket of sockets) socket.write('[');
        await sleep(100);
      }
      for (const socket of sockets) socket.destroy();
    }),
  );
  expect(await sql`select from invocations where source_id = ${id}`).toHaveLength(0);
});
