// fairness: A receiver that holds as many deliveries as one account may have under way, and answers or cuts off all of them at once.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACCOUNT_LIMITS, LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { addWebhook } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const TOGETHER = ACCOUNT_LIMITS.maxDeliveryConnections.default;
const WEBHOOKS = TOGETHER / LIMITS.maxDeliveriesPerWebhook;
/** Events that each go to all webhooks: four times the attempts that may be under way. */
const EVENTS = 4 * LIMITS.maxDeliveriesPerWebhook;
const EMIT = `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < ${EVENTS}; i++) this.$emit(i); } };`;

let held: ServerResponse[] = [];
let fullTimes = 0;
const receiver = createServer((request, response) => {
  request.resume();
  held.push(response);
  if (held.length < TOGETHER) return;
  fullTimes++;
  const all = held;
  held = [];
  for (const one of all) {
    if (fullTimes % 2 === 0) one.socket?.resetAndDestroy();
    else one.end();
  }
});

beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

it('keeps nobody waiting', async () => {
  const { attacker } = world;
  const source = await attacker.deploy(EMIT);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  for (let i = 0; i < WEBHOOKS; i++) await addWebhook(attacker, source.id, `${url}${i}`);
  await world.unharmed(async () => {
    const before = fullTimes;
    await attacker.api('POST', `/sources/${source.id}/run`, {});
    // All are answered once and cut off once; cut-off requests return, but not all together.
    await eventually(() => fullTimes >= before + 2, { timeoutMs: 20_000, what: 'all to be held, twice' });
  });
  expect(fullTimes).toBeGreaterThanOrEqual(2);
});
