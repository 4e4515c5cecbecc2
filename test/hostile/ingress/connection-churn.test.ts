// ingress: One address that connects, asks, and is gone before the answer, as fast as it can.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { open, withinMemory } from '../../support/hostile-ingress.ts';

const world = hostile();
const CONNECTIONS = 1_500;
const AT_ONCE = 50;
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

it('every request is taken or dropped, and the neighbour is served', async () => {
  const { attacker, server } = world;
  const { endpoint } = await attacker.deploy(BIN);
  const request = `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`;
  await world.unharmed(() =>
    withinMemory(server, async () => {
      let left = CONNECTIONS;
      const churn = async () => {
        while (left-- > 0) {
          const socket = await open(server);
          socket.write(request, () => socket.resetAndDestroy());
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, churn));
      await world.untilIdle();
    }),
  );
  const answer = await fetch(endpoint, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(200);
});
