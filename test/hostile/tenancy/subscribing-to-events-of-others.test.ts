// tenancy: A subscription of the attacker's webhook to the neighbour's source, by id, by glob and by patterns.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();

it('hears nothing of another account', async () => {
  const { attacker, neighbour, sql } = world;
  const source = await neighbour.deploy(OWNED);
  const receiver = await startReceiver();
  const webhook = await attacker.api('POST', '/webhooks', { url: receiver.url });
  const listener = webhook.body.data.id as string;
  await world.unharmed(async () => {
    const statuses: Record<string, number> = {};
    for (const emitter of [source.id, 'dc_*', '*', '%', `${source.id.slice(0, 6)}*`, 'owned', `${neighbour.id}/dc_*`]) {
      const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
      statuses[emitter] = made.status;
    }
    expect(Object.entries(statuses).filter(([, status]) => status === 200)).toEqual([['dc_*', 200]]);
    expect(statuses[source.id]).toBe(404);
    const sent = await fetch(source.endpoint, { method: 'POST', body: '1' });
    expect(sent.status).toBe(200);
  });
  // The listeners are decided with the event: both come with one commit.
  await eventually(async () => (await sql`select from events where emitter_id = ${source.id}`).length > 0);
  expect(await sql`select from deliveries where webhook_id = ${listener}`).toHaveLength(0);
  expect(receiver.requests).toEqual([]);
  await receiver.stop();
});
