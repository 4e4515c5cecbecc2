// egress: Webhooks that point at somebody else’s server, and many events for each.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const ANSWER_MS = 50;
const victim = rawServer((socket) => setTimeout(() => socket.end(response('content-length: 0\r\n')), ANSWER_MS));
const [WEBHOOKS, EVENTS] = [5, 50];
const LIMITS = { maxDeliveriesPerSecond: 15, maxDeliveryConnections: 4 };
const BURST_SECONDS = 10;
const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

it('reach it no faster, and over no more connections, than the account may have', async () => {
  const { attacker } = world;
  await world.limit(LIMITS);
  const source = await attacker.deploy(EMIT);
  for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${victim.url}/${i}`);
  let rounds = 0;
  let begunMs = 0;
  const seconds = await world.unharmed(async () => {
    rounds++;
    if (rounds === 1) begunMs = performance.now();
    await attacker.api('POST', `/sources/${source.id}/run`, {});
    await eventually(() => victim.connections() >= rounds * WEBHOOKS * EVENTS, { timeoutMs: 60_000 });
    return (performance.now() - begunMs) / 1_000;
  });
  // Time of the first round only; 150 of its 250 deliveries fit into the burst.
  expect(seconds).toBeGreaterThan((WEBHOOKS * EVENTS) / LIMITS.maxDeliveriesPerSecond - BURST_SECONDS - 1);
  // One may be seen to begin before another is seen to have ended.
  expect(victim.most()).toBeLessThan(2 * LIMITS.maxDeliveryConnections);
});
