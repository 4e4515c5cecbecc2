// tenancy: Pouring the attacker's events into the neighbour's webhook, and ending the neighbour's subscriptions.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('the webhook does not exist for the attacker, and the subscription stays', async () => {
  const { attacker, neighbour } = world;
  const theirs = await neighbour.deploy(OWNED);
  const own = await attacker.deploy(OWNED);
  const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
  const listener = webhook.body.data.id as string;
  const subscription = { emitter_id: theirs.id, listener_id: listener };
  expect((await neighbour.api('POST', '/subscriptions', subscription)).status).toBe(200);
  await world.unharmed(async () => {
    for (const emitter of [own.id, theirs.id, 'dc_*']) {
      const pair = { emitter_id: emitter, listener_id: listener };
      const made = await attacker.api('POST', '/subscriptions', pair);
      const ended = await attacker.api('DELETE', '/subscriptions', pair);
      expect([emitter, made.status, ended.status]).toEqual([emitter, 404, 404]);
    }
  });
  expect((await neighbour.api('GET', '/subscriptions')).text).toContain(theirs.id);
});
