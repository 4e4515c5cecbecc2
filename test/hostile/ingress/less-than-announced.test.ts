// ingress: Bodies that end before their announced length, by a closed, a half-closed and a reset connection.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, whenClosed } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

it('are never taken for whole: nothing is stored and nothing runs', async () => {
  const { attacker, server, sql } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  const framings = ['content-length: 100', 'transfer-encoding: chunked'];
  await world.unharmed(async () => {
    for (const framing of framings) {
      for (const end of ['destroy', 'end', 'resetAndDestroy'] as const) {
        const socket = await open(server);
        socket.write(`POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\n${framing}\r\n\r\n5\r\nhello\r\n`);
        socket.resume()[end]();
        await whenClosed(socket);
      }
    }
  });
  const rows =
    await sql`select id from invocations where source_id = ${id} union select id from runs where source_id = ${id}`;
  expect(rows).toHaveLength(0);
  expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
});
