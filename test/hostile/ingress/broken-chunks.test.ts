// ingress: Chunks with sizes that overflow, are negative, unfinished or no numbers, and endless chunk extensions.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
const CHUNKS = [
  'ffffffffffffffffff\r\nx',
  '-1\r\nx',
  'zz\r\nx',
  '5 \r\nhello',
  '5\nhello\n',
  '5\r\nhelloXX',
  `5;${'x'.repeat(200_000)}\r\nhello`,
  '0x5\r\nhello',
];

it('is a 400 or a 413, and runs nothing', async () => {
  const { attacker, server, sql } = world;
  const { id, endpoint } = await attacker.deploy(BIN);
  const head = `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      for (const chunk of CHUNKS) {
        const { statuses, closed } = await exchange(server, head + chunk + '\r\n0\r\n\r\n');
        expect([chunk.slice(0, 20), closed]).toEqual([chunk.slice(0, 20), true]);
        expect(statuses).toHaveLength(1);
        expect([400, 413]).toContain(statuses[0]);
      }
    }),
  );
  await world.untilIdle();
  expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
});
