// fairness: Webhooks of the attacker at the origin of the neighbour’s receiver, each attempt never answered.
import { expect, it } from 'vitest';
import { deliverOnce, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const receiver = rawServer((socket, request) => {
  if (request.startsWith('POST /neighbour')) socket.end(response('content-length: 0\r\n'));
});
const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < 300; i++) this.$emit(i); } };`;

it('hold up no delivery of the neighbour to the same origin', async () => {
  const { attacker, neighbour, sql } = world;
  await world.unharmed(async () => {
    const source = await attacker.deploy(EMIT);
    for (let i = 0; i < 10; i++) {
      const webhook = await attacker.api('POST', '/webhooks', { url: `${receiver.url}/hang/${i}` });
      await attacker.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.body.data.id });
    }
    await attacker.api('POST', `/sources/${source.id}/run`, {});
    await expect.poll(receiver.open).toBeGreaterThanOrEqual(100);
    const attempt = await deliverOnce({ ...world, attacker: neighbour, sql }, `${receiver.url}/neighbour`);
    expect(attempt).toMatchObject({ status_code: 200 });
    expect(receiver.open()).toBeLessThanOrEqual(257);
  });
});
